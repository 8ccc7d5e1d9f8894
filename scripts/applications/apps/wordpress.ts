// WordPress with MariaDB, of Debian.
import path from 'node:path'
import type { Application } from '../application.ts'
import { debian, run, write } from '../installers.ts'

const CONFIG = (folder: string): string => `<?php
define('DB_NAME', 'wordpress');
define('DB_USER', 'root');
define('DB_PASSWORD', '');
define('DB_HOST', 'localhost:${folder}/socket');
if (($_SERVER['HTTP_X_FORWARDED_PROTO'] ?? '') === 'https') $_SERVER['HTTPS'] = 'on';
$table_prefix = 'wp_';
if (!defined('ABSPATH')) define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
`

/** A new database each time: WordPress keeps the address at which it was installed. */
const START = `
rm -rf db socket
mariadb-install-db --no-defaults --user=root --datadir="$PWD/db" --auth-root-authentication-method=normal --skip-test-db
mariadbd --no-defaults --user=root --datadir="$PWD/db" --socket="$PWD/socket" --skip-networking &
until mariadb --no-defaults -u root -S "$PWD/socket" -e 'create database wordpress'; do sleep 1; done
PHP_CLI_SERVER_WORKERS=2 exec php -S 127.0.0.1:$1 -t site
`

const PASSWORD = 'a long password'

export const WORDPRESS: readonly Application[] = [
  {
    name: 'WordPress',
    setting: "the line of its documentation that sets `$_SERVER['HTTPS']` by `X-Forwarded-Proto`",
    checks:
      'installation, login, the dashboard with links to the site, a form with a nonce that changes the title',
    install(folder) {
      const version = debian(
        folder,
        'wordpress',
        'wordpress-theme-twentytwentythree',
        'mariadb-server',
        'php-mysql',
        'php8.2-cli',
      )
      run(folder, ['cp', '-rLu', '/usr/share/wordpress/.', 'site'])
      write(folder, { 'site/wp-config.php': CONFIG(folder), 'start.sh': START })
      return version
    },
    start: (folder, port) => ['sh', path.join(folder, 'start.sh'), String(port)],
    async check(visitor) {
      await visitor.redirect('/', '/wp-admin/install.php')
      const account = {
        user_name: 'owner',
        admin_password: PASSWORD,
        admin_password2: PASSWORD,
        pw_weak: 'on',
      }
      const site = { weblog_title: 'First', admin_email: 'owner@example.org', blog_public: '0' }
      const install = '/wp-admin/install.php?step=2'
      await visitor.expect(200, 'Success', install, visitor.form(install, { ...account, ...site }))
      await visitor.page('/wp-login.php', 'loginform')
      const login = { log: 'owner', pwd: PASSWORD, testcookie: '1', redirect_to: '/wp-admin/' }
      await visitor.redirect('/wp-login.php', '/wp-admin/', visitor.form('/wp-login.php', login))
      await visitor.page('/wp-admin/', `href='${visitor.url.origin}/wp-admin/`)
      const { text } = await visitor.page('/wp-admin/options-general.php', 'name="_wpnonce"')
      const _wpnonce = /name="_wpnonce" value="(\w+)"/.exec(text)?.[1] ?? ''
      const fields = { option_page: 'general', action: 'update', blogname: 'Second', _wpnonce }
      await visitor.redirect(
        '/wp-admin/options.php',
        '/wp-admin/options-general.php?settings-updated=true',
        visitor.form('/wp-admin/options-general.php', fields),
      )
      await visitor.page('/', /<title>Second/)
    },
  },
]
