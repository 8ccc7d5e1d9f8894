// The development CA's certificate in the forms that systems import: PEM, DER, PKCS #12 and an Apple configuration profile.

import { randomUUID, X509Certificate } from 'node:crypto'

/** By the name of the format, which is what files of it end with. */
export const CA_FORMATS = ['pem', 'der', 'p12', 'mobileconfig'] as const
export type CaFormat = (typeof CA_FORMATS)[number]

/** Importers ask for one. There is nothing to protect: a certificate is public, and its key is not in the file. */
export const PKCS12_PASSWORD = 'svc'

/** @param pem of the authority's certificate */
export async function exportCa(pem: string, format: CaFormat): Promise<Uint8Array> {
  const { raw, subject } = new X509Certificate(pem)
  const name = subject.replace(/^CN=/, '')
  if (format === 'pem') return Buffer.from(pem)
  if (format === 'der') return raw
  if (format === 'mobileconfig') return Buffer.from(configurationProfile(name, raw))
  // loaded for the one who asks
  const { encodePkcs12 } = await import('./pkcs12.ts')
  return encodePkcs12(raw, name, PKCS12_PASSWORD)
}

/** Apple's "Configuration Profile Reference", payload com.apple.security.root: iPhones, iPads and Macs open it. */
function configurationProfile(name: string, der: Buffer): string {
  const payload = (content: string, type: string, identifier: string): string =>
    [
      '<dict>',
      content,
      `<key>PayloadType</key><string>${type}</string>`,
      '<key>PayloadVersion</key><integer>1</integer>',
      `<key>PayloadIdentifier</key><string>${identifier}</string>`,
      `<key>PayloadUUID</key><string>${randomUUID()}</string>`,
      `<key>PayloadDisplayName</key><string>${escapeXml(name)}</string>`,
      '</dict>',
    ].join('\n')
  const certificate = payload(
    `<key>PayloadContent</key><data>${der.toString('base64')}</data>`,
    'com.apple.security.root',
    'svc.development-ca.certificate',
  )
  const profile = payload(
    `<key>PayloadContent</key><array>${certificate}</array>`,
    'Configuration',
    'svc.development-ca',
  )
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    `<plist version="1.0">${profile}</plist>`,
    '',
  ].join('\n')
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
