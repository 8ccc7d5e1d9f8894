// The SvelteKit app, built for a page.

import svc from '@svc/sdk-browser/sveltekit'
import { sveltekit } from '@sveltejs/kit/vite'
import { defineConfig, type UserConfig } from 'vite'

const config: UserConfig = defineConfig({
  plugins: [
    sveltekit({
      adapter: svc(),
      csp: {
        directives: {
          'default-src': ['none'],
          'base-uri': ['none'],
          'connect-src': ['self'],
          'form-action': ['self'],
          'frame-ancestors': ['none'],
          'img-src': ['data:'],
          'script-src': ['self'],
          'style-src': ['self'],
        },
      },
    }),
  ],
})

export default config
