# Evaluates Ruby for the tests: one JSON string per line in, {"value": …} or {"error": "…"} per line out.

require_relative "jobs"
require "sidekiq/api"

answers = $stdout.dup
$stdout.reopen($stderr) # what Sidekiq says must not get between the answers

while (line = $stdin.gets)
  answer =
    begin
      {value: eval(JSON.parse(line), TOPLEVEL_BINDING)}
    rescue StandardError, ScriptError => error
      {error: "#{error.class}: #{error.message}"}
    end
  answers.puts(JSON.generate(answer))
  answers.flush
end
