# A Sidekiq worker as it might stand in your application already. Nothing in it knows Stanchion.
require "sidekiq"

class ImportCatalog
  include Sidekiq::Worker
  sidekiq_options queue: "imports", retry: 5

  def perform(account, rows)
    puts "account #{account}: imported #{rows.size} rows in Ruby"
  end
end
