// `@svc/sdk-browser/react-router`: a preset that builds a React Router app as a module that a page can publish.

import path from 'node:path'
import type { Config, Preset } from '@react-router/dev/config'
import { type AdapterOptions, writeSite } from './write-site.ts'

type BuildEnd = NonNullable<Config['buildEnd']>

/**
 * Makes the preset for `presets: [svc()]` in react-router.config. `react-router build` then writes `build/site.js`,
 * which exports `fetch` for `publish`. The app's own `buildEnd` runs too.
 */
export default function svc({ out }: AdapterOptions = {}): Preset {
  return {
    name: '@svc/sdk-browser/react-router',
    reactRouterConfig: () => ({ buildEnd: (args) => buildEnd(args, out) }),
    reactRouterConfigResolved: ({ reactRouterConfig: { ssr, serverBundles } }) => {
      if (!ssr) throw new Error('Without `ssr` there is no server: publish the build with `files`')
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
