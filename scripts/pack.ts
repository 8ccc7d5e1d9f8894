// `npm run pack`: builds the published packages, and writes their tarballs to artifacts/npm.
import { statSync } from 'node:fs'
import path from 'node:path'
import { root } from '../tools/programs/command.ts'
import { packPackages } from './packages/pack.ts'
import { readManifest } from './packages/published.ts'

if (process.argv.length > 2) {
  console.error('Usage: npm run pack\nIt writes the tarballs of all published packages to artifacts/npm.')
  process.exit(2)
}
for (const { file } of await packPackages())
  console.log(`${path.relative(root, file)}  ${(statSync(file).size / 1024).toFixed(0)} KB`)
const { repository } = readManifest('.')
if (repository !== undefined && new URL(repository.url).hostname === 'example.com')
  console.log(
    `The manifests name ${repository.url}, which stands for a repository: put its address into package.json before you publish them.`,
  )
