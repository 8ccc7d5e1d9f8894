// Gives the pages to Astro, which renders their Markdown.
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Loader } from 'astro/loaders'
import { pictureAt, readPages, withLinks } from './pages.ts'
import { readReference } from './reference.ts'
import { root } from './sections.ts'

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
      for (const page of pages) {
        const { file, slug, title, description } = page
        const id = slug || 'index'
        const body = withLinks(page, leadTo)
        // Starlight adds the links of headings to files below its own folder alone.
        const fileURL = pathToFileURL(path.join(root, 'docs/site/src/content/docs', `${id}.md`))
        store.set({
          id,
          data: await parseData({ id, data: { title, ...(description && { description }) } }),
          body,
          filePath: path.relative(path.join(root, 'docs/site'), path.join(root, file)),
          rendered: await renderMarkdown(body, { fileURL }),
        })
      }
    },
  }
}
