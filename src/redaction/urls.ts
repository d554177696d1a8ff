import { AT, BRACE, COLON, DIGIT, DOLLAR, DOT, ENDS_URL, isIn, LESS, SLASH, standsAt } from './characters.ts'
import type { Findings } from './findings.ts'
import { looksGenerated } from './secret-value.ts'
import { textOf } from './text-of.ts'

/** Secrets in a URL whose `//` ends at `from`: a password or a token before the `@`, the path of a webhook. */
export function findInUrl(found: Findings, from: number): void {
  findCredentials(found, from)
  findWebhook(found, from)
}

const MAX_AUTHORITY_BYTES = 1024
const MIN_USER_TOKEN_BYTES = 20

function findCredentials(found: Findings, from: number): void {
  const { bytes } = found
  const most = Math.min(found.end, from + MAX_AUTHORITY_BYTES)
  let password = -1
  let host = -1
  let at = from
  for (; at < most && !isIn(bytes[at], ENDS_URL); at++) {
    if (bytes[at] === COLON && password === -1) password = at + 1
    else if (bytes[at] === AT) host = at
  }
  findUserToken(found, from, password === -1 ? host : Math.min(host, password - 1), at)
  if (password === -1 || isPlaceholder(bytes[password])) return
  if (found.mayContinue(at)) {
    // It may still be a port.
    if (host > password) found.addTentative(password, at)
    else if (isNumber(bytes, password, at)) found.addTentative(password, password)
    else found.addTentative(password, at)
  } else if (host > password && !isExamplePassword(bytes, password, host)) found.add(password, host)
}

/** Passwords in documentation: `https://user:pass@example.com`. */
export function isExamplePassword(bytes: Uint8Array, from: number, to: number): boolean {
  return EXAMPLE.test(textOf(bytes, from, Math.min(to, from + 32)))
}

const EXAMPLE = /^(?:pass|pwd|pw|x+|\.{3}|[a-z_-]{0,8}(?:password|passwd))$/i

/** `https://<token>@host`, `https://<token>:x-oauth-basic@host`: a user name that is a token. */
function findUserToken(found: Findings, from: number, userEnd: number, at: number): void {
  const isBegun = found.mayContinue(at) && userEnd === -1
  const to = isBegun ? at : userEnd
  const text = textOf(found.bytes, from, Math.max(from, Math.min(to, from + 64)))
  // It may still be a host, which is shown.
  if (isBegun) found.addTentative(from, looksGenerated(text) && !text.includes('.') ? to : from)
  else if (text.length >= MIN_USER_TOKEN_BYTES && looksGenerated(text)) found.add(from, to)
}

/** Webhook addresses: their path is the credential, and is masked. */
const WEBHOOKS = [
  'hooks.slack.com/services/',
  'hooks.slack.com/workflows/',
  'hooks.slack.com/triggers/',
  'discord.com/api/webhooks/',
  'discordapp.com/api/webhooks/',
  'ptb.discord.com/api/webhooks/',
  'canary.discord.com/api/webhooks/',
  'outlook.office.com/webhook/',
  'api.telegram.org/bot',
  'hooks.zapier.com/hooks/catch/',
  'hook.eu1.make.com/',
  'hook.us1.make.com/',
  'hc-ping.com/',
  'maker.ifttt.com/trigger/',
  'open.feishu.cn/open-apis/bot/v2/hook/',
]
const OFFICE = '.webhook.office.com/webhookb2/'
const MAX_WEBHOOK_BYTES = 512
const MIN_WEBHOOK_BYTES = 16

function findWebhook(found: Findings, from: number): void {
  const { bytes, end } = found
  const known = WEBHOOKS.find((address) => standsAt(bytes, from, address))
  const secret = known === undefined ? behindOffice(bytes, from) : from + known.length
  if (secret === -1 || secret >= end || isPlaceholder(bytes[secret])) return
  let to = secret
  while (to < end && to - secret < MAX_WEBHOOK_BYTES && (bytes[to] === SLASH || !isIn(bytes[to], ENDS_URL)))
    to++
  if (found.mayContinue(to)) found.addTentative(secret, to)
  else if (to - secret >= MIN_WEBHOOK_BYTES && looksGenerated(textOf(bytes, secret, to)))
    found.add(secret, to)
}

/** The first label of these hosts is the tenant's name. */
function behindOffice(bytes: Uint8Array, from: number): number {
  for (let at = from; at < from + 64; at++) {
    if (bytes[at] === DOT) return standsAt(bytes, at, OFFICE) ? at + OFFICE.length : -1
    if (isIn(bytes[at], ENDS_URL)) return -1
  }
  return -1
}

/** `${password}`, `{password}`, `<password>`: from source code or documentation. */
export function isPlaceholder(byte: number | undefined): boolean {
  return byte === DOLLAR || byte === BRACE || byte === LESS
}

function isNumber(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (!isIn(bytes[at], DIGIT)) return false
  return true
}
