// Fails the build when a link or picture of a page leads to no file of the site, or to no element of it.
import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AstroIntegration } from 'astro'

/** What the relay serves beside the documentation. */
const OF_THE_RELAY = new Set(['/', '/examples/'])

export function checkedLinks(): AstroIntegration {
  let base = '/'
  return {
    name: 'checked-links',
    hooks: {
      'astro:config:done': ({ config }) => {
        base = config.base.replace(/\/?$/, '/')
      },
      'astro:build:done': ({ dir }) => {
        const faults = findDeadLinks(fileURLToPath(dir), base)
        if (faults.length > 0) throw new Error(`Links lead nowhere:\n${faults.join('\n')}`)
      },
    },
  }
}

/** @returns a line for each link that leads nowhere */
export function findDeadLinks(directory: string, base: string): string[] {
  const files = globSync('**/*.html', { cwd: directory }).filter((file) => file !== '404.html')
  const texts = new Map(files.map((file) => [file, readFileSync(path.join(directory, file), 'utf8')]))
  const ids = new Map([...texts].map(([file, text]) => [file, attributesOf(text, 'id')]))
  return [...texts].flatMap(([file, text]) =>
    [...attributesOf(text, 'href'), ...attributesOf(text, 'src')]
      .filter((target) => !leads(target, file))
      .map((target) => `${file}: ${target}`),
  )

  function leads(href: string, from: string): boolean {
    const url = new URL(href, new URL(`${base}${from}`, 'https://docs.invalid'))
    if (url.host !== 'docs.invalid') return /^https?:$/.test(url.protocol)
    if (OF_THE_RELAY.has(url.pathname)) return true
    if (!`${url.pathname}/`.startsWith(base)) return false
    const name = decodeURIComponent(url.pathname.slice(base.length))
    const page = name === '' || name.endsWith('/') ? `${name}index.html` : name
    if (url.hash === '') return existsSync(path.join(directory, page))
    return ids.get(page)?.has(decodeURIComponent(url.hash.slice(1))) ?? false
  }
}

const ATTRIBUTES = {
  href: /<[a-z][^<>]*?\shref="([^"]*)"/g,
  src: /<[a-z][^<>]*?\ssrc="([^"]*)"/g,
  id: /<[a-z][^<>]*?\sid="([^"]*)"/g,
} as const

/** The values of an attribute in tags; text has `&lt;` where a tag would begin. */
function attributesOf(html: string, name: 'href' | 'src' | 'id'): Set<string> {
  return new Set(
    [...html.matchAll(ATTRIBUTES[name])].map(([, value = '']) =>
      value.replaceAll('&#38;', '&').replaceAll('&amp;', '&'),
    ),
  )
}
