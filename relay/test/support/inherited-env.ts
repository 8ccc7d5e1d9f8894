// Lists what the processes of a test inherit of the environment: where programs are, and where Node keeps what it has compiled.

export const INHERITED_ENV: NodeJS.ProcessEnv = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
}
