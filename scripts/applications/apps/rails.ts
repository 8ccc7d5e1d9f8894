// Ruby on Rails as `rails new` makes it, of Debian.
import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Application } from '../application.ts'
import { debian, run, write } from '../installers.ts'
import type { Visitor } from '../visitor.ts'

const FILES = {
  Gemfile: "gem 'rails'\ngem 'sqlite3'\ngem 'puma'\n",
  'config/routes.rb':
    "Rails.application.routes.draw { root to: 'pages#show'; post '/save', to: 'pages#save' }\n",
  'app/controllers/pages_controller.rb': `class PagesController < ApplicationController
  def show = render(inline: '<%= root_url %><%= form_tag("/save") do %><button>save</button><% end %>')
  def save = redirect_to(root_url)
end
`,
}

const NEW = [
  'rails',
  'new',
  'site',
  '--skip-bundle',
  '--skip-git',
  '--skip-javascript',
  '--skip-webpack-install',
]
const SKIPPED = ['--skip-sprockets', '--skip-spring', '--skip-bootsnap', '--skip-listen', '--skip-test']

/** Pages of a browser ask for this protocol of Action Cable. */
const CABLE = { 'Sec-WebSocket-Protocol': 'actioncable-v1-json, actioncable-unsupported' }

const CHECKS = 'form with CSRF token and check of its `Origin`, absolute redirect, WebSocket of Action Cable'

export const RAILS: readonly Application[] = [
  {
    name: 'Rails',
    checks: `development: host authorization, ${CHECKS}`,
    install,
    start: (_, port) => server(port),
    check: async (visitor) => void (await checkPage(visitor)),
  },
  {
    name: 'Rails, host allowed',
    setting: '`config.hosts`, for URLs of its own',
    checks: `development: the site as its own origin, ${CHECKS}`,
    install(folder) {
      const version = install(folder)
      write(folder, {
        'site/config/initializers/hosts.rb': "Rails.application.config.hosts << '.relay.localhost'\n",
      })
      return version
    },
    start: (_, port) => server(port),
    async check(visitor) {
      const page = await checkPage(visitor)
      if (!page.startsWith(visitor.url.href)) throw new Error(`it takes its origin for ${page.slice(0, 50)}`)
    },
  },
]

function install(folder: string): string {
  const version = debian(folder, 'ruby-rails', 'puma', 'ruby-sqlite3', 'bundler')
  const site = path.join(folder, 'site')
  if (!existsSync(site)) run(folder, [...NEW, ...SKIPPED])
  write(site, FILES)
  run(site, ['bundle', 'install', '--local'])
  return version
}

function server(port: number): string[] {
  return ['ruby', 'site/bin/rails', 'server', '--binding', '127.0.0.1', '--port', String(port)]
}

async function checkPage(visitor: Visitor): Promise<string> {
  const { text } = await visitor.page('/', 'authenticity_token')
  const token = /name="authenticity_token" value="([^"]+)"/.exec(text)?.[1] ?? ''
  await visitor.expect(422, '', '/save', visitor.form('/save', { authenticity_token: 'wrong' }))
  await visitor.redirect('/save', '/', visitor.form('/save', { authenticity_token: token }))
  await visitor.echo('/cable', '{"command":"none"}', (came) => came.includes('welcome'), CABLE)
  return text
}
