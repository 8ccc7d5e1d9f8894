// Type-checking: projects with the same options are one program, none is left out, and each keeps its options.
import { expect, test } from 'vitest'
import { mergeProjects, type Project } from '../suites/type-programs.ts'

const project = (lib: string, include: string[], others: Partial<Project> = {}): Project => ({
  extends: '../base.json',
  compilerOptions: { lib: [lib] },
  include,
  ...others,
})

test('projects with the same options are one program', () => {
  expect(
    mergeProjects([
      ['/r/a', project('DOM', ['src'])],
      ['/r/b', project('WebWorker', ['.'])],
      ['/r/c', project('DOM', ['src', '../c.ts'], { exclude: ['src/d'] })],
    ]),
  ).toEqual([
    {
      extends: '/r/base.json',
      compilerOptions: { lib: ['DOM'] },
      include: ['/r/a/src', '/r/c/src', '/r/c.ts'],
      exclude: ['/r/c/src/d'],
    },
    { extends: '/r/base.json', compilerOptions: { lib: ['WebWorker'] }, include: ['/r/b'], exclude: [] },
  ])
})

test('those that extend another configuration are not', () => {
  const [one, other] = [project('DOM', ['.']), project('DOM', ['.'])]
  expect(
    mergeProjects([
      ['/r/a', one],
      ['/r/b/web', other],
    ]),
  ).toHaveLength(2)
})
