#!/usr/bin/env node
// Starts `svc` where all its code is one file: the command, or the thread that the command starts from the same file.

import { isSea } from 'node:sea'
import { isMainThread } from 'node:worker_threads'
import { type PageFile, setInstallation } from '../../../sdk-node/src/installation.ts'
import { threadOfThisFile } from './single-file.ts'

const PAGE: Readonly<Record<PageFile, () => Promise<{ default: string }>>> = {
  'index.html': () => import('../../../sdk-node/page/index.html?raw'),
  'index.js': () => import('../../../sdk-node/page/index.js?raw'),
  'index.css': () => import('../../../sdk-node/page/index.css?raw'),
  'requests-page.js': () => import('../../../sdk-node/page/requests-page.js?raw'),
  'shares-dialog.js': () => import('../../../sdk-node/page/shares-dialog.js?raw'),
  'tunnel-form.js': () => import('../../../sdk-node/page/tunnel-form.js?raw'),
  'requests-page.css': () => import('../../../sdk-node/page/requests-page.css?raw'),
}

setInstallation({
  thread: threadOfThisFile,
  agentPage: async (file) => (await PAGE[file]()).default,
})
if (!isMainThread) await import('../../../sdk-node/src/datagram/quic-worker.ts')
// An executable has its V8 flags from its configuration.
else if (isSea()) await import('../../../sdk-node/src/cli/run.ts')
else await import('../../../sdk-node/src/cli/main.ts')
