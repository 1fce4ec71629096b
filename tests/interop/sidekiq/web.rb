# Sidekiq's web page on a free port of the loopback interface; says which on its first line.

require_relative "jobs"
require "securerandom"
require "sidekiq/web"
require "rack/session/cookie"
require "rack/handler/webrick"

page = Rack::Builder.new do
  use Rack::Session::Cookie, secret: SecureRandom.hex(32)
  run Sidekiq::Web
end

Rack::Handler::WEBrick.run(page, Host: "127.0.0.1", Port: 0, AccessLog: []) do |server|
  $stdout.puts(server.listeners.first.addr[1])
  $stdout.flush
end
