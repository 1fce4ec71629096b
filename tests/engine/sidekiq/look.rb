# What Sidekiq's own API, and so its web page, sees in a Redis: printed as one JSON object.
require "json"
require "sidekiq"
require "sidekiq/api"

def jobs(set)
  set.map do |job|
    { class: job.klass, args: job.args, jid: job.jid, queue: job.queue, retry: job["retry"],
      error: job["error_class"], message: job["error_message"], retry_count: job["retry_count"],
      at: job.respond_to?(:at) ? job.at.to_f : nil, latency: job.latency }
  end
end

processes = Sidekiq::ProcessSet.new(false).map do |process|
  { hostname: process["hostname"], pid: process["pid"], concurrency: process["concurrency"],
    queues: process["queues"], busy: process["busy"], stopping: process.stopping? }
end
stats = Sidekiq::Stats.new
puts JSON.generate(
  queues: Sidekiq::Queue.all.to_h { |queue| [queue.name, jobs(queue)] },
  schedule: jobs(Sidekiq::ScheduledSet.new),
  retry: jobs(Sidekiq::RetrySet.new),
  processes: processes,
  processed: stats.processed,
  failed: stats.failed
)
