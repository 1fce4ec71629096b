# The Ruby half of the tests' jobs. The Python half, interop_app.py, has jobs of the same names, so that a job
# may begin on one side and end on the other. Both leave what they did in Redis.

require "sidekiq"

LEDGER = "test:ledger"
STARTED = "test:started"
RELEASE = "test:release"

# Poll often: a deadline of the tests must not wait for Sidekiq's usual five seconds per process.
Sidekiq.options[:poll_interval_average] = 0.2

def mark(key, value)
  Sidekiq.redis { |redis| redis.rpush(key, Sidekiq.dump_json(value)) }
end

# Leaves its arguments.
class Note
  include Sidekiq::Worker
  sidekiq_options queue: "mail"

  def perform(*args)
    mark(LEDGER, ["ruby", *args])
  end
end

# Says that it runs, and waits for a word.
class Hold
  include Sidekiq::Worker
  sidekiq_options queue: "mail"

  def perform(value)
    mark(STARTED, value)
    Sidekiq.redis { |redis| redis.blpop(RELEASE, timeout: 60) }
    mark(LEDGER, ["ruby", value])
  end
end

# Fails in Ruby, succeeds in Python.
class FailsInRuby
  include Sidekiq::Worker
  sidekiq_options queue: "mail", backtrace: 5

  def perform(*values)
    raise ArgumentError, "Ruby cannot #{values.first} ☃"
  end
end

# Fails in Python, succeeds in Ruby.
class FailsInPython
  include Sidekiq::Worker
  sidekiq_options queue: "mail", backtrace: 5

  def perform(value)
    mark(LEDGER, ["ruby", value])
  end
end

# No Python worker knows this one.
class OnlyInRuby
  include Sidekiq::Worker
  sidekiq_options queue: "mail"

  def perform(value)
    mark(LEDGER, ["ruby", value])
  end
end
