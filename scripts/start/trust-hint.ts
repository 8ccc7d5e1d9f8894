// Says how a person reaches a site whose certificate comes from the relay's own CA: with curl, and with a browser.
import path from 'node:path'

/** A path as it is typed where the command was given: npm runs its scripts in the root of the repository. */
export function displayPath(file: string): string {
  const relative = path.relative(process.env.INIT_CWD ?? process.cwd(), file)
  return relative.startsWith('..') ? file : relative
}

/** @returns one line that works as printed */
export function curlLine(siteUrl: string, caFile: string | undefined): string {
  const ca = caFile === undefined ? '' : `--cacert ${quote(displayPath(caFile))} `
  return `curl ${ca}${siteUrl}/`
}

/** @returns the commands that make the browsers of this system trust the CA */
export function trustHint(caFile: string): string {
  const file = quote(displayPath(caFile))
  if (process.platform === 'darwin')
    return `For Safari, Chrome and Edge:\n\n  security add-trusted-cert -k ~/Library/Keychains/login.keychain-db ${file}\n\n${firefox(file)}`
  if (process.platform === 'win32')
    return `For Edge and Chrome:\n\n  certutil -user -addstore Root ${file}\n\n${firefox(file)}`
  const database = '$HOME/.pki/nssdb'
  const add = `mkdir -p ${database} && certutil -d sql:${database} -A -t C,, -n svc -i ${file}`
  const tool = 'certutil is in libnss3-tools (Debian, Ubuntu), nss-tools (Fedora) or nss (Arch).'
  return `For Chromium and Chrome:\n\n  ${add}\n\n${tool}\n${firefox(file)}`
}

/** It has a list of its own on every system, one for each profile. */
function firefox(file: string): string {
  return `For Firefox: Settings, Privacy & Security, View Certificates, Authorities, Import ${file}.`
}

function quote(file: string): string {
  return /^[\w./@:-]+$/.test(file) ? file : `'${file.replaceAll("'", `'\\''`)}'`
}
