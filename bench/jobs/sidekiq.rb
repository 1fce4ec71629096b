# Sidekiq's side: loaded by the sidekiq command for its jobs, run by ruby as a client, `MODE COUNT`.
require "sidekiq"
require "json"

[:configure_server, :configure_client].each do |side|
  Sidekiq.public_send(side) do |config|
    config.redis = {url: ENV.fetch("BENCH_REDIS_URL")}
    config.logger.level = Logger::WARN
  end
end

# What a job leaves behind, as in marks.py.
module Marks
  OUT = ENV.fetch("BENCH_OUT")
  FIRST, LAST = ENV.fetch("BENCH_MARKS", "0,0").split(",").map(&:to_i)

  def self.now = Process.clock_gettime(Process::CLOCK_REALTIME)

  def self.write(line) = File.open(OUT, "a") { |file| file.syswrite("#{line}\n") }

  def self.pass_by(number)
    write("#{number} #{now}") if number == FIRST || number == LAST
  end
end

class Noop
  include Sidekiq::Worker
  sidekiq_options queue: "bench"

  def perform(number) = Marks.pass_by(number)
end

class Stamp
  include Sidekiq::Worker
  sidekiq_options queue: "bench"

  def perform(pushed_at) = Marks.write("late #{Marks.now - pushed_at}")
end

def push_stamps(count)
  due = Marks.now
  count.times do
    due += 0.01
    sleep([0, due - Marks.now].max)
    Stamp.perform_async(Marks.now)
  end
end

if __FILE__ == $PROGRAM_NAME
  mode, count = ARGV[0], ARGV[1].to_i
  Noop.perform_async(-1) # connects, before the clock starts
  begun = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
  case mode
  when "one" then count.times { |number| Noop.perform_async(number) }
  when "stamp" then push_stamps(count)
  else (0...count).each_slice(1000) { |numbers| Noop.perform_bulk(numbers.map { |number| [number] }) }
  end
  puts JSON.dump(
    seconds: Process.clock_gettime(Process::CLOCK_MONOTONIC) - begun,
    cpu_seconds: Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - cpu,
  )
end
