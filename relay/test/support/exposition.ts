// A strict reader of Prometheus' text exposition format, version 0.0.4: what it does not allow is an Error. Numbers are
// what Go's ParseFloat takes, as the format says; prom-client spells one of them `Nan`.

export interface Family {
  type: string
  help: string
  /** The values by name and labels as written. */
  samples: Map<string, number>
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const LABEL = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\["\\\\n])*"'
const SAMPLE = new RegExp(
  `^(${NAME})(\\{${LABEL}(?:,${LABEL})*\\})? (-?[0-9.]+(?:e[+-]?[0-9]+)?|[Nn]a[Nn]|[+-]Inf)$`,
)
const HELP = new RegExp(`^# HELP (${NAME}) (.+)$`)
const TYPE = new RegExp(`^# TYPE (${NAME}) (counter|gauge|histogram|summary)$`)
/** The suffixes that the samples of a family may add to its name. */
const SUFFIXES: Record<string, string[]> = {
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
}

export function parseExposition(text: string): Map<string, Family> {
  if (!text.endsWith('\n')) throw new Error('the last line has no end')
  const families = new Map<string, Family>()
  let name = ''
  let help = ''
  for (const line of text.slice(0, -1).split('\n')) {
    const family = families.get(name)
    const [, helpName, helpText = ''] = HELP.exec(line) ?? []
    const [, typeName, type = ''] = TYPE.exec(line) ?? []
    const [, sampleName = '', labels = '', value = ''] = SAMPLE.exec(line) ?? []
    if (line === '') continue
    if (helpName !== undefined) {
      if (families.has(helpName)) throw new Error(`${helpName} comes twice`)
      name = helpName
      help = helpText
    } else if (typeName !== undefined) {
      if (typeName !== name || families.has(name)) throw new Error(`${line}: not behind its HELP`)
      families.set(name, { type, help, samples: new Map() })
    } else {
      const suffixes = SUFFIXES[family?.type ?? ''] ?? ['']
      if (!suffixes.some((suffix) => sampleName === name + suffix)) throw new Error(`${line}: not of ${name}`)
      if (family?.samples.has(sampleName + labels)) throw new Error(`${line}: again`)
      family?.samples.set(sampleName + labels, Number(value.replace('Inf', 'Infinity')))
    }
  }
  return families
}
