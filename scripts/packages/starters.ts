// Projects as the starters of frameworks make them, in their current and previous major version, each with a page that imports `publish`.

/** A Starter is a project of a framework, without what is only for looks. */
export interface Starter {
  name: string
  dependencies: Readonly<Record<string, string>>
  files: Readonly<Record<string, string>>
  /** The command that builds it, of one of its packages. */
  build: readonly string[]
  /** The folder that the build writes what browsers load to. */
  output: string
}

const SCRIPT = "import { publish } from '@svc/sdk-browser'\nglobalThis.publish = publish\n"
const REACT = { react: '^19.0.0', 'react-dom': '^19.0.0' }
const JSX = `${SCRIPT}export default () => <p>A page</p>\n`

const VITE = {
  files: { 'index.html': '<script type="module" src="/main.js"></script>', 'main.js': SCRIPT },
  build: ['vite', 'build'],
  output: 'dist',
}
const ASTRO = {
  files: { 'src/pages/index.astro': `<script>\n${SCRIPT}</script>` },
  build: ['astro', 'build'],
  output: 'dist',
}
const SVELTEKIT = {
  files: {
    'vite.config.js':
      "import { sveltekit } from '@sveltejs/kit/vite'\nexport default { plugins: [sveltekit()] }",
    'src/app.html': '<head>%sveltekit.head%</head><body><div>%sveltekit.body%</div></body>',
    'src/routes/+page.svelte': `<script>\n${SCRIPT}</script>`,
  },
  build: ['vite', 'build'],
  output: '.svelte-kit/output/client',
}
const REACT_ROUTER = {
  files: {
    'vite.config.js':
      "import { reactRouter } from '@react-router/dev/vite'\nexport default { plugins: [reactRouter()] }",
    'app/root.jsx':
      "import { Outlet, Scripts } from 'react-router'\nexport default () => <html><body><Outlet /><Scripts /></body></html>",
    'app/routes.js': "import { index } from '@react-router/dev/routes'\nexport default [index('page.jsx')]",
    'app/page.jsx': JSX,
  },
  build: ['react-router', 'build'],
  output: 'build/client',
}
const NEXT = {
  files: {
    'app/layout.jsx': 'export default ({ children }) => <html lang="en"><body>{children}</body></html>',
    'app/page.jsx': `'use client'\n${JSX}`,
  },
  build: ['next', 'build'],
  output: '.next/static',
}
const ANGULAR = {
  files: {
    'angular.json': JSON.stringify({
      version: 1,
      projects: {
        page: {
          projectType: 'application',
          root: '',
          architect: {
            build: {
              builder: '@angular/build:application',
              options: {
                browser: 'src/main.ts',
                index: 'src/index.html',
                tsConfig: 'tsconfig.json',
                outputPath: 'dist',
                polyfills: ['zone.js'],
              },
            },
          },
        },
      },
    }),
    'tsconfig.json': JSON.stringify({
      compilerOptions: {
        strict: true,
        target: 'ES2022',
        module: 'preserve',
        moduleResolution: 'bundler',
        lib: ['ES2022', 'DOM', 'DOM.Iterable'],
        skipLibCheck: true,
        experimentalDecorators: true,
      },
      files: ['src/main.ts'],
    }),
    'src/index.html': '<!doctype html><app-root></app-root>',
    'src/main.ts': [
      "import { Component } from '@angular/core'",
      "import { bootstrapApplication } from '@angular/platform-browser'",
      "import { publish } from '@svc/sdk-browser'",
      "@Component({ selector: 'app-root', template: 'A page' })",
      'class App {',
      '  publish = publish',
      '}',
      'void bootstrapApplication(App)',
    ].join('\n'),
  },
  build: ['ng', 'build'],
  output: 'dist',
}

/** @param major of Angular; the compiler and the zone.js are those that it asks for */
function angular(major: number, typescript: string, zone: string): Record<string, string> {
  const packages = ['core', 'common', 'compiler', 'platform-browser', 'compiler-cli', 'cli', 'build']
  const own = Object.fromEntries(packages.map((name) => [`@angular/${name}`, `^${major}.0.0`]))
  return { ...own, rxjs: '^7.8.0', typescript, 'zone.js': zone }
}

function reactRouter(major: number, vite: string): Record<string, string> {
  const packages = ['@react-router/dev', '@react-router/node', 'react-router']
  return {
    ...Object.fromEntries(packages.map((name) => [name, `^${major}.0.0`])),
    ...REACT,
    isbot: '^5.0.0',
    vite,
  }
}

function svelteKit(major: number, plugin: string, vite: string): Record<string, string> {
  return { '@sveltejs/kit': `^${major}.0.0`, '@sveltejs/vite-plugin-svelte': plugin, svelte: '^5.0.0', vite }
}

export const STARTERS: readonly Starter[] = [
  { name: 'Vite 8', dependencies: { vite: '^8.0.0' }, ...VITE },
  { name: 'Vite 7', dependencies: { vite: '^7.0.0' }, ...VITE },
  { name: 'Vite 6', dependencies: { vite: '^6.0.0' }, ...VITE },
  { name: 'Astro 7', dependencies: { astro: '^7.0.0' }, ...ASTRO },
  { name: 'Astro 6', dependencies: { astro: '^6.0.0' }, ...ASTRO },
  { name: 'Astro 5', dependencies: { astro: '^5.0.0' }, ...ASTRO },
  { name: 'SvelteKit 3', dependencies: svelteKit(3, '*', '^8.0.0'), ...SVELTEKIT },
  { name: 'SvelteKit 2', dependencies: svelteKit(2, '^5.0.0', '^6.0.0'), ...SVELTEKIT },
  { name: 'React Router 8', dependencies: reactRouter(8, '^8.0.0'), ...REACT_ROUTER },
  { name: 'React Router 7', dependencies: reactRouter(7, '^6.0.0'), ...REACT_ROUTER },
  { name: 'Next 16', dependencies: { next: '^16.0.0', ...REACT }, ...NEXT },
  { name: 'Next 15', dependencies: { next: '^15.0.0', ...REACT }, ...NEXT },
  { name: 'Angular 22', dependencies: angular(22, '*', '~0.16.0'), ...ANGULAR },
  { name: 'Angular 21', dependencies: angular(21, '~5.9.0', '~0.15.0'), ...ANGULAR },
]
