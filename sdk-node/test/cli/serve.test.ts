// `svc serve` at a real relay: an application's own paths, and content codings as visitors of HTTP accept them.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { text, visit } from '../support/exposed.ts'
import { reported } from '../support/svc.ts'
import { useSvcAtRelay } from '../support/svc-at-relay.ts'

const own = useSvcAtRelay()
const CODE = 'console.log("hello")\n'.repeat(100)

async function makeFolder(): Promise<string> {
  const folder = join(own.home, 'dist')
  await mkdir(folder)
  await writeFile(join(folder, 'index.html'), '<h1>the application')
  await writeFile(join(folder, 'app.js'), CODE)
  return folder
}

it('serves a single-page application with --spa, compressed', async () => {
  const run = own.svc('serve', await makeFolder(), '--spa', '--name', 'app', ...own.at())
  const { url, targets } = await reported(run, 'online')
  expect(targets).toEqual({ url: join(own.home, 'dist') })
  expect(await text(await visit(own.relay, url!, '/settings/profile?tab=1'))).toBe('<h1>the application')
  expect((await visit(own.relay, url!, '/assets/gone.js')).statusCode).toBe(404)
  const code = await visit(own.relay, url!, '/app.js', {
    headers: { 'accept-encoding': 'gzip, deflate, br' },
  })
  expect(code.headers['content-encoding']).toBe('br')
  expect(brotliDecompressSync(Buffer.concat(await code.toArray())).toString()).toBe(CODE)
})

it('is the same in svc.toml, and folders of routes are compressed, too', async () => {
  await makeFolder()
  const config = join(own.home, 'svc.toml')
  await writeFile(
    config,
    `relay = "${own.relay.origin}"
ca = "${own.relay.caFile}"
[[tunnel]]
name = "configured"
folder = "dist"
spa = true
listing = true
routes = { "/other" = "./dist" }
`,
  )
  const { url } = await reported(own.svc('start', '--config', config, '--json'), 'online')
  expect(await text(await visit(own.relay, url!, '/settings'))).toBe('<h1>the application')
  const code = await visit(own.relay, url!, '/other/app.js', { headers: { 'accept-encoding': 'gzip' } })
  expect(code.headers['content-encoding']).toBe('gzip')
  code.resume()
  expect((await visit(own.relay, url!, '/other/settings')).statusCode).toBe(404)
})

it('offers no archive, which would have the files of paths that a rule closes', async () => {
  await mkdir(join(own.home, 'closed'))
  await writeFile(join(own.home, 'closed/plan.txt'), 'the plan')
  const config = join(own.home, 'svc.toml')
  const head = `relay = "${own.relay.origin}"\nca = "${own.relay.caFile}"`
  const tunnel = `[[tunnel]]\nname = "closing"\nfolder = "."\nlisting = true`
  await writeFile(config, `${head}\n${tunnel}\nrules = { maintenance = { path = "/closed/*" } }`)
  const { url } = await reported(own.svc('start', '--config', config, '--json'), 'online')
  expect((await visit(own.relay, url!, '/closed/plan.txt')).statusCode).toBe(503)
  const listing = await visit(own.relay, url!, '/?zip')
  expect(listing.headers['content-type']).toContain('text/html')
  expect(await text(listing)).not.toContain('?zip')
})

it('is what svc expose suggests for a folder, also for a bare name', async () => {
  // The last one is relative to this process.
  for (const target of [await makeFolder(), './dist', 'docs']) {
    const run = own.svc('expose', target, ...own.at())
    expect(await run.ended).toBe(2)
    expect(run.out.join()).toContain(`${target} is a folder: svc serve ${target} publishes its files`)
  }
})
