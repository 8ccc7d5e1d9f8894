// The site of the documentation: `npm run docs` makes it (tools/bundler/documentation.ts). DOCS_BASE is its path on the host, DOCS_SITE
// the URL of that host if it is known, DOCS_OUT the directory that it goes to, and DOCS_REFERENCE the one with the API reference.
import path from 'node:path'
import starlight from '@astrojs/starlight'
import { defineConfig } from 'astro/config'
import { finishedPages } from './src/integrations/finished-pages.ts'
import { checkedLinks } from './src/integrations/links.ts'
import { markdownTwins } from './src/integrations/twins.ts'
import { root } from './src/sections.ts'
import { sidebar } from './src/sidebar.ts'

const outDir = process.env.DOCS_OUT ?? path.join(root, 'node_modules/.cache/docs-site/dist')

const base = process.env.DOCS_BASE ?? '/docs'
const site = process.env.DOCS_SITE
/** Chats take no picture without a host: a relay that serves the pages puts its own before this path. */
const card = `${site ?? ''}${base.replace(/\/$/, '')}/card.jpg`

export default defineConfig({
  base,
  ...(site && { site }),
  outDir,
  // Of its own, since two builds may run at the same time.
  cacheDir: path.join(outDir, '../docs-cache'),
  telemetry: false,
  build: { assets: 'assets', inlineStylesheets: 'never' },
  vite: { build: { assetsInlineLimit: 0 } },
  devToolbar: { enabled: false },
  integrations: [
    // Before the pages are indexed, which the next one does.
    finishedPages(),
    starlight({
      title: 'svc',
      credits: false,
      head: [
        { tag: 'meta', attrs: { property: 'og:image', content: card } },
        ...[
          ['light', '#f6f5f2'],
          ['dark', '#15171a'],
        ].map(([scheme, content]) => ({
          tag: 'meta',
          attrs: { name: 'theme-color', content, media: `(prefers-color-scheme: ${scheme})` },
        })),
      ],
      customCss: ['./src/style.css'],
      components: {
        Search: './src/components/Search.astro',
        PageTitle: './src/components/PageTitle.astro',
        SiteTitle: './src/components/SiteTitle.astro',
        SocialIcons: './src/components/SocialIcons.astro',
      },
      tableOfContents: { minHeadingLevel: 2, maxHeadingLevel: 3 },
      expressiveCode: {
        defaultProps: { frame: 'none' },
        useDarkModeMediaQuery: true,
        styleOverrides: { codeBackground: 'var(--code-ground)', borderRadius: 'var(--round)' },
      },
      sidebar: sidebar(),
    }),
    markdownTwins(),
    checkedLinks(),
  ],
})
