// Servers that Debian has: Apache, nginx, PHP, and the registry of Docker.
import { createHash } from 'node:crypto'
import path from 'node:path'
import type { Application } from '../application.ts'
import { debian, write } from '../installers.ts'
import type { Visitor } from '../visitor.ts'

const apache = (folder: string, port: number): string => `
ServerRoot ${folder}
PidFile ${folder}/pid
Listen 127.0.0.1:${port}
ServerName localhost
ErrorLog ${folder}/error.log
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule dir_module /usr/lib/apache2/modules/mod_dir.so
DocumentRoot ${folder}/htdocs
<Directory ${folder}/htdocs>
Require all granted
</Directory>
`

/** Its user, which counts when root starts it, can read the folder wherever that is. */
const nginx = (folder: string, port: number): string => `
user root;
pid ${folder}/pid;
error_log ${folder}/error.log;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  server { listen 127.0.0.1:${port}; root ${folder}/htdocs; location = /old { return 301 /docs/; } }
}
`

const PHP = `<?php
session_start();
if ($_SERVER['REQUEST_METHOD'] === 'POST') {
  if (!hash_equals($_SESSION['token'], $_POST['token'])) { http_response_code(403); exit('token'); }
  header('Location: http://' . $_SERVER['HTTP_HOST'] . '/?done'); exit;
}
$_SESSION['token'] ??= bin2hex(random_bytes(16));
echo 'token=' . $_SESSION['token'];
`

const registry = (folder: string, port: number): string => `version: 0.1
storage: { filesystem: { rootdirectory: ${folder}/data } }
http: { addr: '127.0.0.1:${port}' }
`

async function folders(visitor: Visitor): Promise<void> {
  await visitor.redirect('/docs', '/docs/')
  await visitor.page('/docs/', 'here')
}

export const DEBIAN: readonly Application[] = [
  {
    name: 'Apache',
    checks: 'redirect of a folder, page',
    install(folder) {
      write(folder, { 'htdocs/docs/index.html': 'here' })
      return debian(folder, 'apache2-bin')
    },
    start(folder, port) {
      write(folder, { 'apache.conf': apache(folder, port) })
      return ['/usr/sbin/apache2', '-f', path.join(folder, 'apache.conf'), '-DFOREGROUND']
    },
    check: folders,
  },
  {
    name: 'nginx',
    checks: 'redirect of a folder, `return 301`, page',
    install(folder) {
      write(folder, { 'htdocs/docs/index.html': 'here' })
      return debian(folder, 'nginx')
    },
    start(folder, port) {
      write(folder, { 'nginx.conf': nginx(folder, port) })
      return ['/usr/sbin/nginx', '-c', path.join(folder, 'nginx.conf'), '-g', 'daemon off;']
    },
    async check(visitor) {
      await folders(visitor)
      await visitor.redirect('/old', '/docs/')
    },
  },
  {
    name: 'PHP',
    checks: 'page, session cookie, form with a token, absolute redirect',
    install(folder) {
      write(folder, { 'index.php': PHP })
      return debian(folder, 'php8.2-cli')
    },
    start: (folder, port) => ['php', '-S', `127.0.0.1:${port}`, '-t', folder],
    async check(visitor) {
      const { text } = await visitor.page('/', /^token=\w{32}$/)
      await visitor.redirect('/', '/?done', visitor.form('/', { token: text.slice('token='.length) }))
    },
  },
  {
    name: 'Docker registry',
    checks: 'a push as `docker push` makes it: upload by its Location, manifest, pull',
    install: (folder) => debian(folder, 'docker-registry'),
    start(folder, port) {
      write(folder, { 'config.yml': registry(folder, port) })
      return ['docker-registry', 'serve', path.join(folder, 'config.yml')]
    },
    check: push,
  },
]

async function push(visitor: Visitor): Promise<void> {
  const layer = Buffer.from('a layer')
  const digest = `sha256:${createHash('sha256').update(layer).digest('hex')}`
  const begun = await visitor.expect(202, '', '/v2/demo/blobs/uploads/', { method: 'POST' })
  const at = new URL(begun.headers.location ?? '')
  if (at.origin !== visitor.url.origin) throw new Error(`the upload goes to ${at.origin}`)
  at.searchParams.set('digest', digest)
  await visitor.expect(201, '', at.pathname + at.search, { method: 'PUT', body: layer })
  const part = { mediaType: 'application/vnd.docker.image.rootfs.diff.tar.gzip', size: layer.length, digest }
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: 'application/vnd.docker.distribution.manifest.v2+json',
    config: part,
    layers: [part],
  })
  await visitor.expect(201, '', '/v2/demo/manifests/1', {
    method: 'PUT',
    headers: { 'Content-Type': 'application/vnd.docker.distribution.manifest.v2+json' },
    body: manifest,
  })
  await visitor.page(`/v2/demo/blobs/${digest}`, 'a layer')
}
