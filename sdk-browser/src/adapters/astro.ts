// `@svc/sdk-browser/astro`: an adapter that builds an Astro site as a module that a page can publish.

import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AstroConfig, AstroIntegration } from 'astro'
import { type AdapterOptions, writeSite } from './write-site.ts'

const NAME = '@svc/sdk-browser/astro'

/** This code becomes part of Astro's build, which resolves `astro/app/entrypoint`. */
const ENTRY = `import { createApp } from 'astro/app/entrypoint'
const app = createApp()
export const answer = (request, { waitUntil }, prerenderedErrorPageFetch) =>
  app.render(request, { addCookieHeader: true, waitUntil, prerenderedErrorPageFetch })
`

/** The map has the prerendered error pages, which the page cannot fetch from itself. */
const serverOf = (entry: string): string => `import { answer } from ${JSON.stringify(`./${entry}`)}
const handle = (request, info) => answer(request, info, async (url) => fetch(new Request(url), info))`

/** Astro's own image service is native code. This one leaves images unchanged. */
const SHARP = 'astro/assets/services/sharp'
const NOOP = { entrypoint: 'astro/assets/services/noop', config: {} }

/**
 * `adapter: svc()` in astro.config: `astro build` then writes `build/site.js`, which exports `fetch` for `publish`.
 */
export default function svc({ out = 'build' }: AdapterOptions = {}): AstroIntegration {
  let entry: URL
  let config: AstroConfig
  return {
    name: NAME,
    hooks: {
      'astro:config:setup': async ({ config: { image }, createCodegenDir, updateConfig }) => {
        entry = new URL('server.js', createCodegenDir())
        await writeFile(entry, ENTRY)
        if (image.service.entrypoint === SHARP) updateConfig({ image: { service: NOOP } })
      },
      'astro:config:done': ({ config: final, setAdapter }) => {
        config = final
        setAdapter({
          name: NAME,
          entrypointResolution: 'auto',
          serverEntrypoint: entry,
          adapterFeatures: { buildOutput: 'server' },
          supportedAstroFeatures: {
            staticOutput: 'stable',
            hybridOutput: 'stable',
            serverOutput: 'stable',
            i18nDomains: 'unsupported',
            envGetSecret: 'unsupported',
            sharpImageService: 'unsupported',
          },
        })
      },
      'astro:build:done': async () => {
        const { base, build } = config
        await writeSite({
          out: path.resolve(out),
          files: [fileURLToPath(build.client)],
          base,
          immutable: `${build.assets}/`,
          server: serverOf(build.serverEntry),
          directory: fileURLToPath(build.server),
        })
      },
    },
  }
}
