// `npm run build`: compiles every published package into its `dist`.
import { compilePackages } from './packages/compile.ts'
import { PUBLISHED } from './packages/published.ts'

if (process.argv.length > 2) {
  console.error(
    'Usage: npm run build\nIt compiles every published package into its dist; npm run pack makes tarballs of them.',
  )
  process.exit(2)
}
const isNew = await compilePackages()
console.log(`${isNew ? 'Compiled' : 'Up to date'}: ${PUBLISHED.map((folder) => `${folder}/dist`).join(', ')}`)
