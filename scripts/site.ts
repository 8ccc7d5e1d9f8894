// `npm run site -- DIRECTORY`: builds what an operator's relay serves at its root host (SVC_SITE_DIR).
import path from 'node:path'
import { buildSite } from './lib/build.ts'

const [directory] = process.argv.slice(2)
console.log(await buildSite(directory && path.resolve(process.env.INIT_CWD ?? '.', directory)))
