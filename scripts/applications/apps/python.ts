// Django, Flask, Jupyter, and the rule of Home Assistant for proxies in aiohttp.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import type { Application } from '../application.ts'
import { pip, pythonOf, write } from '../installers.ts'

/** A project as `startproject` makes it, with a form that its own middleware guards. */
const DJANGO_URLS = `
from django.http import HttpResponse, HttpResponseRedirect
from django.middleware.csrf import get_token
from django.urls import path
def form(request):
    return HttpResponse(get_token(request)) if request.method == 'GET' else HttpResponse('posted')
urlpatterns = [path('form/', form), path('login', lambda request: HttpResponseRedirect(request.build_absolute_uri('/form/')))]
`

const FLASK = `
import sys
from flask import Flask, redirect, request, session, url_for
app = Flask(__name__)
app.secret_key = 'secret'
@app.get('/')
def index():
    session['seen'] = session.get('seen', 0) + 1
    return f"seen {session['seen']}"
@app.post('/form')
def form(): return redirect(url_for('index', _external=True))
@app.get('/docs/')
def docs(): return 'docs'
app.run('127.0.0.1', int(sys.argv[1]))
`

const STRICT = `
import sys
from ipaddress import ip_address
from aiohttp import web
@web.middleware
async def forwarded(request, handler):
    for line in request.headers.getall('X-Forwarded-For', []):
        try: [ip_address(one.strip()) for one in line.split(',')]
        except ValueError: raise web.HTTPBadRequest
    return await handler(request)
app = web.Application(middlewares=[forwarded])
app.router.add_get('/', lambda request: web.Response(text='from ' + request.headers.get('X-Forwarded-For', 'nobody')))
web.run_app(app, host='127.0.0.1', port=int(sys.argv[1]))
`

const TOKEN = 'a-token'

export const PYTHON: readonly Application[] = [
  {
    name: 'Django',
    checks: 'form with CSRF token, redirect; `DEBUG` and `ALLOWED_HOSTS` as `startproject` sets them',
    install(folder) {
      const version = pip(folder, ['django==5.2.19'])
      if (!existsSync(path.join(folder, 'site'))) startProject(folder)
      write(folder, { 'site/demo/urls.py': DJANGO_URLS })
      return version
    },
    start: (folder, port) => [
      pythonOf(folder),
      'site/manage.py',
      'runserver',
      '--noreload',
      `127.0.0.1:${port}`,
    ],
    async check(visitor) {
      const { text } = await visitor.page('/form/', /^\w{64}$/)
      await visitor.expect(403, 'CSRF', '/form/', visitor.form('/form/', { csrfmiddlewaretoken: 'wrong' }))
      await visitor.expect(200, 'posted', '/form/', visitor.form('/form/', { csrfmiddlewaretoken: text }))
      await visitor.redirect('/login', '/form/')
    },
  },
  {
    name: 'Flask',
    checks: 'page, session cookie, absolute redirect of a form, redirect of a folder',
    install(folder) {
      write(folder, { 'app.py': FLASK })
      return pip(folder, ['flask==3.1.3'])
    },
    start: (folder, port) => [pythonOf(folder), 'app.py', String(port)],
    async check(visitor) {
      await visitor.page('/', 'seen 1')
      await visitor.page('/', 'seen 2')
      await visitor.redirect('/form', '/', visitor.form('/form', {}))
      await visitor.redirect('/docs', '/docs/')
    },
  },
  {
    name: 'aiohttp',
    checks: 'the rule of Home Assistant: a word in `X-Forwarded-For` that is no address is 400',
    install(folder) {
      write(folder, { 'app.py': STRICT })
      return pip(folder, ['aiohttp==3.14.5'])
    },
    start: (folder, port) => [pythonOf(folder), 'app.py', String(port)],
    check: async (visitor) =>
      void (await visitor.expect(200, 'from ', '/', { headers: { 'X-Forwarded-For': 'unknown' } })),
  },
  {
    name: 'Jupyter',
    checks:
      'Notebook: its hosts are local ones alone; login with a token and a check against forged requests, a kernel, its WebSocket with a check of the `Origin`',
    install: (folder) => pip(folder, ['notebook==7.6.5', 'ipykernel==7.4.0']),
    start: (folder, port) => [
      pythonOf(folder),
      '-m',
      'notebook',
      '--allow-root',
      '--no-browser',
      `--port=${port}`,
      `--IdentityProvider.token=${TOKEN}`,
    ],
    async check(visitor) {
      await visitor.redirect('/', '/tree?')
      await visitor.redirect('/tree', '/login?next=%2Ftree')
      await visitor.page('/login', 'name="_xsrf"')
      const fields = { password: TOKEN, _xsrf: visitor.cookie('_xsrf') ?? '' }
      await visitor.redirect('/login?next=%2Ftree', '/tree', visitor.form('/login?next=%2Ftree', fields))
      await visitor.page('/tree', 'jupyter-config-data')
      const kernels = {
        method: 'POST',
        body: '{}',
        headers: { 'X-XSRFToken': visitor.cookie('_xsrf') ?? '', Origin: visitor.url.origin },
      }
      const { text } = await visitor.expect(201, '"id"', '/api/kernels', kernels)
      const ask = JSON.stringify({ header: { msg_type: 'none' }, channel: 'none' })
      await visitor.echo(`/api/kernels/${JSON.parse(text).id}/channels`, ask, (came) =>
        came.includes('execution_state'),
      )
    },
  },
]

function startProject(folder: string): void {
  mkdirSync(path.join(folder, 'site'))
  spawnSync(pythonOf(folder), ['-m', 'django', 'startproject', 'demo', 'site'], { cwd: folder })
}
