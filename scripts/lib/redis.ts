// A real server for the tests of TCP ports: where Redis is not there, and cannot be had, its test is skipped.
import { spawnSync } from 'node:child_process'
import { aptGet, ensure } from './install.ts'

export function ensureRedis(): void {
  if (ensure(findRedis, [aptGet('redis-server')]) === undefined)
    console.log('No redis-server: its test is skipped (Debian redis-server).')
}

function findRedis(): true | undefined {
  return spawnSync('redis-server', ['--version']).error === undefined ? true : undefined
}
