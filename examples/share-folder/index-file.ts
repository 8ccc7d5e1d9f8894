// A page with a link to each file, for a folder that has no index: the relay serves files and makes no listings.
import { escapeHtml } from '../shared/html-page.ts'

const INDEX = 'index.html'

const STYLE = `
  :root { color-scheme: light dark }
  body { background: light-dark(#f6f5f2, #15171a); color: light-dark(#1c1e21, #e8e6e1);
    font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 40rem; padding: 0 1rem }
  a { color: light-dark(#0b6b57, #4cc9a7) }
  li { overflow-wrap: anywhere }`

/** Returns the files by path, with an index. */
export function withIndex(files: ReadonlyMap<string, File>): Map<string, File | string> {
  return new Map<string, File | string>([
    [INDEX, indexOf([...files.keys()].filter(isShown).sort())],
    ...files,
  ])
}

/** Hidden files are not stored. */
function isShown(path: string): boolean {
  return !path.split('/').some((name) => name.startsWith('.'))
}

function indexOf(paths: readonly string[]): string {
  const items = paths.map((path) => `<li><a href="${hrefOf(path)}">${escapeHtml(path)}</a></li>`)
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>Shared files</title>
<style>${STYLE}</style>
<main>
<h1>Shared files</h1>
<ul>${items.join('\n')}</ul>
</main>
</html>
`
}

function hrefOf(path: string): string {
  return `/${path.split('/').map(encodeURIComponent).join('/')}`
}
