// Starts nginx as one process on loopback, on the tested core, with TLS and the same files.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { freePort } from '../../tools/network/free-port.ts'
import type { DebianPrograms } from '../../tools/programs/debian-packages.ts'
import { Programs } from '../node/processes.ts'
import { onTestedCore } from '../relay/cores.ts'
import { createIdentity } from '../tls/identity.ts'
import type { ServedFile } from './files.ts'

export interface Nginx {
  url: string
  pids: readonly number[]
  stop(): Promise<void>
}

/** @param keepsOpen whether files stay open between requests, which nginx does not by default */
export async function startNginx(
  debian: DebianPrograms,
  files: readonly ServedFile[],
  keepsOpen: boolean,
): Promise<Nginx> {
  const directory = await mkdtemp(path.join(tmpdir(), 'svc-bench-nginx-'))
  const [root, port] = [path.join(directory, 'root'), await freePort()]
  await mkdir(root)
  for (const { path: name, content } of files) await writeFile(path.join(root, name), content)
  const { certificate, key } = createIdentity()
  await writeFile(path.join(directory, 'certificate.pem'), certificate)
  await writeFile(path.join(directory, 'key.pem'), key)
  await writeFile(path.join(directory, 'nginx.conf'), configuration(directory, port, keepsOpen))
  const args = ['-p', directory, '-e', 'stderr', '-c', path.join(directory, 'nginx.conf')]
  const [command, all] = onTestedCore('env', [libraries(debian), debian.pathOf('nginx'), ...args])
  const programs = new Programs()
  programs.start(command, all)
  await programs.listening(port)
  return {
    url: `https://localhost:${port}`,
    pids: programs.pids,
    stop: async () => {
      await programs.stop()
      await rm(directory, { recursive: true })
    },
  }
}

function libraries({ env }: DebianPrograms): string {
  return Object.entries(env)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')
}

/**
 * As Debian configures it, but as one process, which leaves none behind when it is killed, without a log, and with connections
 * that last as long as the measurement.
 */
function configuration(directory: string, port: number, keepsOpen: boolean): string {
  return `daemon off;
master_process off;
pid ${directory}/nginx.pid;
error_log stderr;
events { worker_connections 1024; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  ${keepsOpen ? 'open_file_cache max=1000;' : ''}
  keepalive_requests 100000000;
  client_body_temp_path ${directory}/body;
  proxy_temp_path ${directory}/proxy;
  fastcgi_temp_path ${directory}/fastcgi;
  scgi_temp_path ${directory}/scgi;
  uwsgi_temp_path ${directory}/uwsgi;
  server {
    listen 127.0.0.1:${port} ssl;
    ssl_certificate ${directory}/certificate.pem;
    ssl_certificate_key ${directory}/key.pem;
    ssl_protocols TLSv1.3;
    root ${directory}/root;
  }
}
`
}
