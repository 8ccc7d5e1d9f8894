// The package goes into a project with any version of what its adapters are for: npm refuses one whose ranges do not fit (ERESOLVE).

import { expect, test } from 'vitest'
import manifest from '../package.json' with { type: 'json' }

test('no peer forbids a version, and none has to be there', () => {
  const { peerDependencies, peerDependenciesMeta } = manifest
  expect(new Set(Object.values(peerDependencies))).toEqual(new Set(['*']))
  const optional = Object.fromEntries(Object.keys(peerDependencies).map((name) => [name, { optional: true }]))
  expect(peerDependenciesMeta).toEqual(optional)
})
