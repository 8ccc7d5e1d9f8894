// Gives the pages to Astro, which renders their Markdown.
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Loader } from 'astro/loaders'
import { type Page, pictureAt, readPages, withLinks } from './pages.ts'
import { readReference } from './reference.ts'
import { root } from './sections.ts'

/** A host shows this page for an address that has none. */
const NOT_FOUND: Page = {
  file: 'docs/404.md',
  slug: '404',
  title: 'There is no page here',
  description: 'The documentation has no page at this address.',
  body: [
    'It may have moved. The search (Ctrl K) finds each page by its words. Or begin here:',
    '- [Overview](README.md)\n\n  What svc does, and the first command',
    '- [Recipes](guide/recipes.md)\n\n  Webhooks, a dev server, files, a game',
    '- [Troubleshooting](guide/troubleshooting.md)\n\n  By the message that you see',
  ].join('\n\n'),
}

export function pagesLoader(): Loader {
  return {
    name: 'pages-of-the-repository',
    load: async ({ store, config, parseData, renderMarkdown }) => {
      store.clear()
      const pages = [...readPages(), ...readReference()]
      const slugs = new Map(pages.map(({ file, slug }) => [file, slug]))
      const leadTo = (file: string, anchor: string): string | undefined => {
        const slug = slugs.get(file)
        const base = config.base.replace(/\/?$/, '/')
        return slug === undefined ? pictureAt(file, base) : `${base}${slug && `${slug}/`}${anchor}`
      }
      for (const page of [...pages, NOT_FOUND]) {
        const { file, slug, title, description } = page
        const id = slug || 'index'
        const body = withLinks(page, leadTo)
        // Starlight adds the links of headings to files below its own folder alone.
        const fileURL = pathToFileURL(path.join(root, 'docs/site/src/content/docs', `${id}.md`))
        const data = { title, ...(description && { description }), pagefind: page !== NOT_FOUND }
        store.set({
          id,
          data: await parseData({ id, data }),
          body,
          filePath: path.relative(path.join(root, 'docs/site'), path.join(root, file)),
          rendered: await renderMarkdown(body, { fileURL }),
        })
      }
    },
  }
}
