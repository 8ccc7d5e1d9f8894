// Laravel, of Debian.
import path from 'node:path'
import type { Application } from '../application.ts'
import { debian, write } from '../installers.ts'
import type { Visitor } from '../visitor.ts'

/** What a new project of Laravel has, in one file: Debian has the framework, and no project. */
const INDEX = `<?php
require 'Illuminate/autoload.php';
use Illuminate\\Support\\Facades\\Route;
$root = __DIR__ . '/..';
foreach (['cache', 'sessions', 'views'] as $name) @mkdir("$root/storage/framework/$name", 0700, true);
@mkdir("$root/storage/logs"); @mkdir("$root/bootstrap/cache", 0700, true);

class Kernel extends Illuminate\\Foundation\\Http\\Kernel {
  protected $middleware = [Illuminate\\Http\\Middleware\\TrustProxies::class];
  protected $middlewareGroups = ['web' => [
    Illuminate\\Cookie\\Middleware\\EncryptCookies::class,
    Illuminate\\Cookie\\Middleware\\AddQueuedCookiesToResponse::class,
    Illuminate\\Session\\Middleware\\StartSession::class,
    Illuminate\\Foundation\\Http\\Middleware\\VerifyCsrfToken::class,
    Illuminate\\Routing\\Middleware\\SubstituteBindings::class,
  ]];
}
class Routes extends Illuminate\\Foundation\\Support\\Providers\\RouteServiceProvider {
  public function boot() {
    $this->routes(function () {
      Route::middleware('web')->group(function () {
        Route::get('/', fn () => url('/') . ' token=' . csrf_token());
        Route::post('/save', fn () => redirect('/'));
        Route::get('/invite', fn () => Illuminate\\Support\\Facades\\URL::signedRoute('join'));
        Route::get('/join', fn () => 'joined')->name('join')->middleware(Illuminate\\Routing\\Middleware\\ValidateSignature::class);
      });
    });
  }
}
$app = new Illuminate\\Foundation\\Application($root);
$app->singleton(Illuminate\\Contracts\\Http\\Kernel::class, Kernel::class);
$app->singleton(Illuminate\\Contracts\\Debug\\ExceptionHandler::class, Illuminate\\Foundation\\Exceptions\\Handler::class);
$kernel = $app->make(Illuminate\\Contracts\\Http\\Kernel::class);
$kernel->handle($request = Illuminate\\Http\\Request::capture())->send();
`

const PROVIDERS = [
  'Cookie\\CookieServiceProvider',
  'Encryption\\EncryptionServiceProvider',
  'Filesystem\\FilesystemServiceProvider',
  'Foundation\\Providers\\FoundationServiceProvider',
  'Session\\SessionServiceProvider',
  'Translation\\TranslationServiceProvider',
  'View\\ViewServiceProvider',
]

const CONFIG = {
  'config/app.php': `<?php return ['name' => 'demo', 'env' => 'local', 'debug' => true, 'url' => 'http://localhost', 'key' => str_repeat('k', 32),
  'cipher' => 'AES-256-CBC', 'timezone' => 'UTC', 'locale' => 'en', 'fallback_locale' => 'en', 'aliases' => [], 'providers' => [
${PROVIDERS.map((name) => `    Illuminate\\${name}::class,\n`).join('')}    Routes::class]];
`,
  'config/session.php': `<?php return ['driver' => 'file', 'lifetime' => 120, 'expire_on_close' => false, 'encrypt' => false,
  'files' => storage_path('framework/sessions'), 'lottery' => [2, 100], 'cookie' => 'laravel_session', 'path' => '/',
  'domain' => null, 'secure' => null, 'http_only' => true, 'same_site' => 'lax'];
`,
  'config/view.php': "<?php return ['paths' => [], 'compiled' => storage_path('framework/views')];\n",
  'config/logging.php':
    "<?php return ['default' => 'err', 'channels' => ['err' => ['driver' => 'errorlog']]];\n",
}

const CHECKS = 'page, session cookie, form with CSRF token, absolute redirect'

export const LARAVEL: readonly Application[] = [
  {
    name: 'Laravel',
    checks: CHECKS,
    install: (folder) => laravel(folder, 'null'),
    start: phpOf,
    check: async (visitor) => void (await checkLaravel(visitor)),
  },
  {
    name: 'Laravel, proxies trusted',
    setting: '`TrustProxies` with `*`, for URLs of its own',
    checks: `the site as its own origin, a signed URL, ${CHECKS}`,
    install: (folder) => laravel(folder, "'*'"),
    start: phpOf,
    async check(visitor) {
      const page = await checkLaravel(visitor)
      if (!page.startsWith(`${visitor.url.origin} `)) throw new Error(`it takes its origin for ${page}`)
      const { text } = await visitor.page('/invite', visitor.url.origin)
      await visitor.page(text.slice(visitor.url.origin.length), 'joined')
    },
  },
]

function laravel(folder: string, proxies: string): string {
  const trusted = { 'config/trustedproxy.php': `<?php return ['proxies' => ${proxies}];\n` }
  write(folder, { 'public/index.php': INDEX, ...CONFIG, ...trusted, 'composer.json': '{}' })
  return debian(folder, 'php-laravel-framework', 'php8.2-cli', 'php8.2-mbstring', 'php8.2-xml')
}

function phpOf(folder: string, port: number): string[] {
  const root = path.join(folder, 'public')
  return ['php', '-S', `127.0.0.1:${port}`, '-t', root, path.join(root, 'index.php')]
}

async function checkLaravel(visitor: Visitor): Promise<string> {
  const { text } = await visitor.page('/', 'token=')
  await visitor.expect(419, '', '/save', visitor.form('/save', { _token: 'wrong' }))
  await visitor.redirect('/save', '/', visitor.form('/save', { _token: text.split('token=')[1]! }))
  return text
}
