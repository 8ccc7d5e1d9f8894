// A plugin of Vite for pages that use the project's font.
import type { Plugin } from 'vite'

/** The page loads its font with its style, so that the text is drawn once. */
export function fontPreload(): Plugin {
  let base = '/'
  return {
    name: 'font-preload',
    configResolved: (config) => {
      base = config.base
    },
    transformIndexHtml: {
      order: 'post',
      handler: (_html, { bundle = {} }) =>
        Object.keys(bundle)
          .filter((name) => name.endsWith('.woff2'))
          .map((name) => ({
            tag: 'link',
            attrs: { rel: 'preload', href: base + name, as: 'font', type: 'font/woff2', crossorigin: true },
            injectTo: 'head-prepend' as const,
          })),
    },
  }
}
