// Exports the development CA's certificate in formats that systems import: PEM, DER, PKCS #12, Apple profile.

import { randomUUID, X509Certificate } from 'node:crypto'

/** Formats, named by their file extension. */
export const CA_FORMATS = ['pem', 'der', 'p12', 'mobileconfig'] as const
export type CaFormat = (typeof CA_FORMATS)[number]

/** Importers require a password. It protects nothing: a certificate is public, and its key is not in the file. */
export const PKCS12_PASSWORD = 'svc'

/** @param pem certificate of the CA */
export async function exportCa(pem: string, format: CaFormat): Promise<Uint8Array> {
  const { raw, subject } = new X509Certificate(pem)
  const name = subject.replace(/^CN=/, '')
  if (format === 'pem') return Buffer.from(pem)
  if (format === 'der') return raw
  if (format === 'mobileconfig') return Buffer.from(configurationProfile(name, raw))
  // Few exports need this module.
  const { encodePkcs12 } = await import('./pkcs12.ts')
  return encodePkcs12(raw, name, PKCS12_PASSWORD)
}

/** A profile for iPhones, iPads and Macs (Apple's "Configuration Profile Reference", com.apple.security.root). */
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
