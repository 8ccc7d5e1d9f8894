// The Astro site, built for a page.
import svc from '@svc/sdk-browser/astro'
import type { AstroUserConfig } from 'astro'
import { defineConfig } from 'astro/config'

const config: AstroUserConfig = defineConfig({
  adapter: svc(),
  build: { inlineStylesheets: 'never' },
  // scripts are files, which the policy allows
  vite: { build: { assetsInlineLimit: 0 } },
})

export default config
