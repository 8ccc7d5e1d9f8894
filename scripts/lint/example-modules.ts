// The examples of a page of the documentation as TypeScript modules, each line under its number in the page.

/** A Page is a file in Markdown. */
export interface Page {
  file: string
  text: string
}

/** The languages of fenced blocks that are examples. Of HTML only the scripts are. */
const LANGUAGES = ['ts', 'js', 'html']
const FENCE = '```'
/** The user's own values that would be globals of another type in a page. */
const OPEN_SCOPE = "void (async (name: string, fetch: import('@svc/sdk-browser').FetchHandler) => {"
const CLOSE_SCOPE = '})'

/** An example's lines, the first of which is in line `begin` of the page, counted from 0. */
interface Example {
  begin: number
  lines: string[]
}

/**
 * Makes modules of a page's examples. An example with imports begins a module. One without any continues the module
 * before it, in a scope of its own: it sees what that has imported and declared.
 */
export function modulesOf({ file, text }: Page): Page[] {
  const modules: { begin: number; lines: string[] }[] = []
  for (const { begin, lines } of examplesOf(text.split('\n'))) {
    const isWhole = lines.some((line) => line.trimStart().startsWith('import '))
    const last = modules.at(-1)
    const module = isWhole || last === undefined ? { begin, lines: [] } : last
    if (module !== last) modules.push(module)
    for (let line = module.lines.length; line < begin; line++) module.lines.push('')
    if (isWhole) module.lines.push(...lines)
    else {
      // The fence is the line before an example and the line after it.
      module.lines[begin - 1] = OPEN_SCOPE
      module.lines.push(...lines, CLOSE_SCOPE)
    }
  }
  return modules.map(({ begin, lines }) => ({ file: `${file}.${begin + 1}.ts`, text: lines.join('\n') }))
}

function examplesOf(page: readonly string[]): Example[] {
  const examples: Example[] = []
  let language: string | undefined
  let begin = 0
  page.forEach((line, index) => {
    const fence = line.trimStart()
    if (!fence.startsWith(FENCE)) return
    if (language === undefined) {
      language = fence.slice(FENCE.length)
      begin = index + 1
      return
    }
    const example = { begin, lines: page.slice(begin, index) }
    if (LANGUAGES.includes(language)) examples.push(...(language === 'html' ? scriptsOf(example) : [example]))
    language = undefined
  })
  return examples
}

/** The scripts within HTML, whose tags have lines of their own. */
function scriptsOf({ begin, lines }: Example): Example[] {
  const scripts: Example[] = []
  lines.forEach((line, index) => {
    if (!line.startsWith('<script') || line.includes(' src=') || line.includes('importmap')) return
    const end = lines.indexOf('</script>', index)
    scripts.push({ begin: begin + index + 1, lines: lines.slice(index + 1, end) })
  })
  return scripts
}
