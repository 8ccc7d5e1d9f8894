// Frameworks of npm with servers of their own: Next.js and SvelteKit, in development and built.
import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Application } from '../application.ts'
import { npm, run, write } from '../installers.ts'
import type { Visitor } from '../visitor.ts'
import { hmrOfVite } from './node.ts'

const NEXT = {
  'app/layout.js':
    'export default function Layout({ children }) { return <html><body>{children}</body></html> }',
  'app/page.js': `
import { redirect } from 'next/navigation'
export default function Page() {
  async function save() { 'use server'; redirect('/done') }
  return <form action={save}><button>here</button></form>
}
`,
  'app/done/page.js': 'export default function Done() { return <p>done</p> }',
  'app/away/route.js': "export const GET = (request) => Response.redirect(new URL('/done', request.url))",
  'proxy.js': `
import { NextResponse } from 'next/server'
export const proxy = (request) => NextResponse.redirect(new URL('/done', request.url))
export const config = { matcher: '/guarded' }
`,
}

const SVELTE_KIT = {
  'src/app.html': '<html><head>%sveltekit.head%</head><body><div>%sveltekit.body%</div></body></html>',
  'src/routes/+page.svelte': '<form method="POST"><button>here</button></form>',
  'src/routes/+page.server.js': `
import { redirect } from '@sveltejs/kit'
export const actions = { default() { redirect(303, '/done') } }
`,
  'src/routes/done/+page.svelte': '<p>done</p>',
  'src/routes/away/+server.js': "export const GET = ({ url }) => Response.redirect(new URL('/done', url))",
  'vite.config.js': `
import adapter from '@sveltejs/adapter-node'
import { sveltekit } from '@sveltejs/kit/vite'
export default { plugins: [sveltekit({ adapter: adapter() })] }
`,
}

function next(folder: string): string {
  write(folder, NEXT)
  return npm(folder, ['next@16.4.6', 'react@19.3.1', 'react-dom@19.3.1'])
}

function svelteKit(folder: string): string {
  write(folder, SVELTE_KIT)
  return npm(folder, [
    '@sveltejs/kit@3.2.0',
    'svelte@5.57.3',
    '@sveltejs/vite-plugin-svelte@7.3.1',
    '@sveltejs/adapter-node@6.0.1',
    'vite@8.3.8',
  ])
}

const FORM = 'page, form with a check of its `Origin`, redirect that is made of the URL of the request'

export const FRAMEWORKS: readonly Application[] = [
  {
    name: 'Next.js, development',
    checks: `${FORM} by a route and by \`proxy\`, WebSocket of HMR, scripts`,
    install: next,
    start: (folder, port) => nextAs('dev', folder, port),
    async check(visitor) {
      const { text } = await checkNext(visitor)
      const script = /src="(\/_next\/static\/[^"]+\.js[^"]*)"/.exec(text)?.[1]
      if (script === undefined) throw new Error('the page has no script')
      await visitor.expect(200, '', script, {
        headers: { 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Site': 'same-origin' },
      })
      await visitor.echo('/_next/hmr', '{"event":"ping"}', (came) => came.includes('"type"'))
    },
  },
  {
    name: 'Next.js, built',
    checks: `${FORM} by a route and by \`proxy\``,
    install(folder) {
      const version = next(folder)
      if (!existsSync(path.join(folder, '.next/BUILD_ID'))) run(folder, nextAs('build', folder))
      return version
    },
    start: (folder, port) => nextAs('start', folder, port),
    check: async (visitor) => void (await checkNext(visitor)),
  },
  {
    name: 'SvelteKit, development',
    checks: `${FORM}, WebSocket of HMR`,
    install: svelteKit,
    start: (folder, port) => viteOf(folder, 'dev', '--host', '127.0.0.1', '--port', String(port)),
    async check(visitor) {
      await checkSvelteKit(visitor)
      await hmrOfVite(visitor)
    },
  },
  {
    name: 'SvelteKit, built',
    checks: `${FORM}, by the server of \`adapter-node\``,
    install(folder) {
      const version = svelteKit(folder)
      if (!existsSync(path.join(folder, 'build/index.js'))) run(folder, viteOf(folder, 'build'))
      return version
    },
    start: (_, port) => ['env', `PORT=${port}`, process.execPath, 'build/index.js'],
    check: checkSvelteKit,
  },
]

function nextAs(what: string, folder: string, port?: number): string[] {
  const at = port === undefined ? [] : ['--port', String(port)]
  return [process.execPath, path.join(folder, 'node_modules/next/dist/bin/next'), what, ...at]
}

function viteOf(folder: string, ...args: string[]): string[] {
  return [process.execPath, path.join(folder, 'node_modules/vite/bin/vite.js'), ...args]
}

async function checkNext(visitor: Visitor) {
  const page = await visitor.page('/', 'here')
  const action = /name="(\$ACTION_ID_\w+)"/.exec(page.text)?.[1]
  if (action === undefined) throw new Error('the form has no action')
  const form = new FormData()
  form.set(action, '')
  const content = new Response(form)
  const headers = { 'Content-Type': content.headers.get('content-type')! }
  const body = Buffer.from(await content.arrayBuffer())
  await visitor.redirect('/', '/done', { ...visitor.form('/', {}, headers), body })
  await visitor.page('/done', 'done')
  await visitor.redirect('/guarded', '/done')
  await visitor.redirect('/away', '/done')
  return page
}

async function checkSvelteKit(visitor: Visitor): Promise<void> {
  await visitor.page('/', 'here')
  await visitor.redirect('/', '/done', visitor.form('/', {}))
  await visitor.page('/done', 'done')
  await visitor.redirect('/away', '/done')
}
