// A plugin of Vite for pages that send scripts to the visitors of their sites.
import { build, type Plugin } from 'vite'

const SCRIPT = '?script'

/** `import text from './visitor.ts?script'`: what a page sends to its visitors as the script of theirs. */
export function scriptAsText(): Plugin {
  return {
    name: 'script-as-text',
    async load(id) {
      if (!id.endsWith(SCRIPT)) return undefined
      const built = await build({
        configFile: false,
        logLevel: 'warn',
        build: {
          write: false,
          modulePreload: { polyfill: false },
          rolldownOptions: { checks: { bundlerTimings: false }, input: id.slice(0, -SCRIPT.length) },
        },
      })
      const [chunk] = 'output' in built ? built.output : []
      if (chunk?.type !== 'chunk') throw new Error(`${id} is not one script`)
      return { code: `export default ${JSON.stringify(chunk.code)}`, moduleType: 'js' }
    },
  }
}
