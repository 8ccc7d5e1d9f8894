// `@svc/sdk-browser/sveltekit`: an adapter that builds a SvelteKit app as a module that a page can publish.

import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import type { Adapter } from '@sveltejs/kit'
import { type AdapterOptions, writeSite } from './write-site.ts'

const NAME = '@svc/sdk-browser/sveltekit'

/** Hooks, actions and endpoints get the fetch handler's `info` as `event.platform`. */
const SERVER = `import { server } from './server.js'
const ready = server.init({ env: {} })
const getClientAddress = () => {
  throw new Error('A site in a page does not learn the addresses of its visitors')
}
async function handle(request, platform) {
  await ready
  return server.respond(request, { platform, getClientAddress })
}`

/**
 * Makes the adapter for `sveltekit({ adapter: svc() })` in vite.config. `vite build` then writes `build/site.js`, which
 * exports `fetch` for `publish`.
 */
export default function svc({ out = 'build' }: AdapterOptions = {}): Adapter {
  return {
    name: NAME,
    async adapt(builder) {
      if (!('generateServerInstance' in builder)) throw new Error(`${NAME} needs SvelteKit 3 or later`)
      const directory = builder.getBuildDirectory('svc')
      const client = path.join(directory, 'client')
      const prerendered = path.join(directory, 'prerendered')
      await rm(directory, { recursive: true, force: true })
      await mkdir(prerendered, { recursive: true })
      builder.generateEnvModule()
      builder.writeClient(client)
      builder.writePrerendered(prerendered)
      builder.generateServerInstance(path.join(directory, 'server.js'))
      const pages = Array.from(builder.prerendered.pages, ([path, { file }]) => [path, file])
      await writeSite({
        out: path.resolve(out),
        files: [client, prerendered],
        base: builder.config.paths.base,
        pages: Object.fromEntries(pages),
        immutable: `${builder.config.appDir}/immutable/`,
        server: SERVER,
        directory,
      })
    },
  }
}
