// Where the tests of each section of the ledger are.

import { readdirSync, readFileSync } from 'node:fs'

/** @returns section and file, from the root of the repository, in the order of the sections' names */
export function sectionFiles(): [section: string, file: string][] {
  const folder = import.meta.dirname
  const names = readdirSync(folder).filter((name) => name.endsWith('.test.ts'))
  return names
    .flatMap((name) => {
      const text = readFileSync(`${folder}/${name}`, 'utf8')
      const sections = [...text.matchAll(/^ledger\(\s*'([^']+)'/gm)]
      return sections.map(([, section]): [string, string] => [`${section}`, `relay/test/ledger/${name}`])
    })
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
}
