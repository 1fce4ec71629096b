# A Ruby application: `sidekiq -r ./echo_job.rb` runs it, and `ruby echo_job.rb` pushes from it.
require "json"
require "sidekiq"

# Leaves its arguments where the test looks.
class EchoJob
  include Sidekiq::Worker
  sidekiq_options queue: "ruby", retry: 3

  def perform(*args)
    Sidekiq.redis { |redis| redis.rpush("test:ledger", JSON.generate(args)) }
  end
end

if $PROGRAM_NAME == __FILE__
  # For a worker in another language the class is only a name.
  job = { "class" => "note", "queue" => "mail", "retry" => 3, "args" => [7], "tags" => ["from ruby"] }
  Sidekiq::Client.push(job)
  Sidekiq::Client.push(job.merge("args" => [8], "at" => Time.now.to_f + 0.5))
end
