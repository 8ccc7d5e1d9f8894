// Builds the page of the local agent into the package of `svc`.
import path from 'node:path'
import { root } from '../programs/command.ts'
import { buildDirectory, buildProject } from './output-directory.ts'
import { digestOf } from './source-digest.ts'

/** The directory in which the agent looks (sdk-node/src/installation.ts). */
const PAGE_DIR: string = path.join(root, 'sdk-node/page')
/** The sources of the page. */
const SOURCES = [
  'sdk-node/web/{index.html,*.ts,src/**}',
  'sdk-node/src/{agent,inspector}/api-messages.ts',
  'relay/web/{package.json,src/{preact.ts,common/**,inspector/**,style/**,texts/{common,site-states}.ts}}',
  'examples/shared/style.css',
  'protocol/{package.json,src/**}',
  'tools/bundler/{agent-page,output-directory}.ts',
  'package-lock.json',
]

/** Builds the page, unless the one that is there was built from the same sources. @returns its directory */
export async function buildAgentPage(): Promise<string> {
  await buildDirectory(PAGE_DIR, digestOf(SOURCES), (built) => buildProject('sdk-node/web', built))
  return PAGE_DIR
}
