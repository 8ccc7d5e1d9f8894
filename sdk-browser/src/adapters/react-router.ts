// `@svc/sdk-browser/react-router`: the preset that makes of a React Router app a module that a page publishes.

import path from 'node:path'
import type { Config, Preset } from '@react-router/dev/config'
import { type AdapterOptions, writeSite } from './write-site.ts'

type BuildEnd = NonNullable<Config['buildEnd']>

/**
 * `presets: [svc()]` in react-router.config: `react-router build` then writes `build/site.js`, which exports `fetch` for
 * `publish`. A `buildEnd` of the app's own runs beside it.
 */
export default function svc({ out }: AdapterOptions = {}): Preset {
  return {
    name: '@svc/sdk-browser/react-router',
    reactRouterConfig: () => ({ buildEnd: (args) => buildEnd(args, out) }),
    reactRouterConfigResolved: ({ reactRouterConfig: { ssr, serverBundles } }) => {
      if (!ssr) throw new Error('Without `ssr` there is no server: publish the files with `files`')
      if (serverBundles) throw new Error('A page has one server: `serverBundles` cannot be used')
    },
  }
}

async function buildEnd(
  { reactRouterConfig, viteConfig }: Parameters<BuildEnd>[0],
  out: string | undefined,
): Promise<void> {
  const { buildDirectory, serverBuildFile } = reactRouterConfig
  const server = `import { createRequestHandler } from 'react-router'
import * as build from ${JSON.stringify(`./server/${serverBuildFile}`)}
const answer = createRequestHandler(build, 'production')
const handle = (request) => answer(request)`
  await writeSite({
    out: out === undefined ? buildDirectory : path.resolve(out),
    files: [path.join(buildDirectory, 'client')],
    base: viteConfig.base,
    immutable: `${viteConfig.build.assetsDir}/`,
    server,
    directory: buildDirectory,
  })
}
