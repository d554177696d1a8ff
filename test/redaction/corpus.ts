import { createHash } from 'node:crypto'

/** Output of programs, and the parts of it that must be masked. */
export interface Printed {
  readonly name: string
  readonly text: string
  /** The parts that are secret. */
  readonly secrets: readonly string[]
}

const ALNUM = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
const HEX = '0123456789abcdef'
const BASE64 = `${ALNUM}+/`

/** Invented and deterministic. This file contains no secret: each is derived from its name. */
export function invented(name: string, length: number, of = ALNUM): string {
  let text = ''
  for (let block = 0; text.length < length; block++)
    for (const byte of createHash('sha512').update(`${name} ${block}`).digest()) text += of[byte % of.length]
  return text.slice(0, length)
}

function token(prefix: string, length: number, of = ALNUM): Printed {
  const secret = invented(prefix, length, of)
  return { name: `a token that begins with ${prefix}`, text: `got ${prefix}${secret}.`, secrets: [secret] }
}

function jwt(): Printed {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const head = part({ alg: 'HS256', typ: 'JWT' })
  const claims = part({ sub: invented('subject', 12), admin: true })
  const signature = invented('signature', 43)
  return {
    name: 'a JWT',
    text: `token: ${head}.${claims}.${signature}`,
    secrets: [claims, signature, head.slice(3)],
  }
}

function pem(title: string, lines: number, margin = ''): Printed {
  const body = Array.from({ length: lines }, (_, line) => invented(`${title} ${line}`, 64, BASE64))
  body.push(`${invented(`${title} last`, 22, BASE64)}==`)
  const text = [`-----BEGIN ${title}-----`, ...body, `-----END ${title}-----`]
  return {
    name: `a PEM block, ${title}${margin === '' ? '' : `, after ${JSON.stringify(margin)}`}`,
    text: text.map((line) => `${margin}${line}`).join('\n'),
    secrets: body,
  }
}

const password = invented('password', 14)
const basic = Buffer.from(`user:${password}`).toString('base64')
const words = `${invented('one', 9)} ${invented('two', 9)}`

export const SECRETS: readonly Printed[] = [
  token('AKIA', 16, UPPER),
  token('ASIA', 16, UPPER),
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'].map((prefix) => token(prefix, 36)),
  token('github_pat_', 82),
  token('glpat-', 20),
  ...['xoxb-', 'xoxp-', 'xapp-'].map((prefix) => token(prefix, 40)),
  ...['sk_live_', 'rk_live_', 'sk_test_', 'whsec_'].map((prefix) => token(prefix, 24)),
  token('sk-', 48),
  token('sk-proj-', 80),
  token('sk-ant-api03-', 90),
  token('AIza', 35),
  token('GOCSPX-', 28),
  token('ya29.', 60),
  token('hf_', 34),
  token('gsk_', 52),
  token('npm_', 36),
  token('pypi-', 120),
  token('dop_v1_', 64, HEX),
  token('SG.', 22),
  token('hvs.', 24),
  token('rv_', 43),
  jwt(),
  pem('PRIVATE KEY', 25),
  pem('RSA PRIVATE KEY', 48),
  pem('OPENSSH PRIVATE KEY', 6, 'web_1  | '),
  pem('ENCRYPTED PRIVATE KEY', 6, '2026-11-15T16:45:18Z '),
  {
    ...pem('DSA PRIVATE KEY', 8),
    name: 'an encrypted PEM block with headers',
    text: pem('DSA PRIVATE KEY', 8).text.replace(
      '\n',
      `\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,${invented('iv', 32, '0123456789ABCDEF')}\n\n`,
    ),
  },
  {
    name: 'a PEM block in JSON',
    text: JSON.stringify({ key: pem('EC PRIVATE KEY', 3).text }),
    secrets: pem('EC PRIVATE KEY', 3).secrets,
  },
  { name: 'a bearer header', text: `Authorization: Bearer ${password}`, secrets: [password] },
  { name: 'a basic header', text: `> authorization: Basic ${basic}`, secrets: [basic] },
  {
    name: 'a header in JSON',
    text: JSON.stringify({ headers: { Authorization: `Bearer ${password}`, accept: '*/*' } }),
    secrets: [password],
  },
  {
    name: 'a header with a scheme of its own',
    text: `Authorization: Acme ${invented('acme', 22)}`,
    secrets: [invented('acme', 22)],
  },
  {
    name: 'a header of OAuth',
    text: `authorization: OAuth ${invented('oauth', 22)}`,
    secrets: [invented('oauth', 22)],
  },
  {
    name: 'a digest header',
    text: `> Authorization: Digest username="u", uri="/a", response="${invented('digest', 32, HEX)}"`,
    secrets: [invented('digest', 32, HEX)],
  },
  {
    name: 'a header without digits',
    text: 'Authorization: correcthorsebatterystaple',
    secrets: ['correcthorsebatterystaple'],
  },
  {
    name: 'a header with a comma in it',
    text: `web_1  | Authorization: Bearer ${password},${invented('comma', 16)}`,
    secrets: [password, invented('comma', 16)],
  },
  {
    name: 'a header on a command line',
    text: `curl -H "Authorization: SSWS ${invented('ssws', 22)}" https://example.org`,
    secrets: [invented('ssws', 22)],
  },
  {
    name: 'a header in JSON in JSON',
    text: JSON.stringify({ log: JSON.stringify({ authorization: 'correcthorsebatterystaple' }) }),
    secrets: ['correcthorsebatterystaple'],
  },
  {
    name: 'a bearer token alone',
    text: `sending bearer ${invented('opaque', 32)} to them`,
    secrets: [invented('opaque', 32)],
  },
  { name: 'a URL with a password', text: `postgres://app:${password}@db:5432/app`, secrets: [password] },
  {
    name: 'a URL whose password has an @',
    text: `see redis://:${password}@x${password}@cache/0 there`,
    secrets: [password],
  },
  { name: 'a line of env', text: `DB_PASSWORD=${words}`, secrets: words.split(' ') },
  { name: 'a line of export', text: `export API_TOKEN='${words}'`, secrets: words.split(' ') },
  { name: 'a line of declare -x', text: `declare -x MY_SECRET="${words}"`, secrets: words.split(' ') },
  {
    name: 'a variable on a command line',
    text: `+ env STRIPE_KEY=${password} node server.js`,
    secrets: [password],
  },
  {
    name: 'a variable with a comma in its value',
    text: `+ env STRIPE_KEY=${password},${invented('behind', 12)} node server.js`,
    secrets: [password, invented('behind', 12)],
  },
  {
    name: 'an environment as the system keeps it',
    text: `HOME=/root\0DB_PASSWORD=${words}\0PATH=/bin\0API_TOKEN=${password},${invented('behind', 12)}\0`,
    secrets: [...words.split(' '), password, invented('behind', 12)],
  },
  ...['web_1  | ', '2026-11-15T16:45:18Z ', '[16:45:18] ', '16:45:18.123 ', '.env:', 'config/.env:12:'].map(
    (margin) => ({
      name: `a line of env after ${JSON.stringify(margin)}`,
      text: `${margin}DB_PASSWORD=${words}`,
      secrets: words.split(' '),
    }),
  ),
  {
    name: 'a variable in a list',
    text: `    "Env": ["PATH=/bin", "SESSION_SECRET=${words}", "HOME=/root"]`,
    secrets: words.split(' '),
  },
  {
    name: 'credentials of AWS',
    text: `aws_secret_access_key = ${invented('aws', 40, BASE64)}`,
    secrets: [invented('aws', 40, BASE64)],
  },
  {
    name: 'credentials of npm',
    text: `//registry.npmjs.org/:_authToken=${invented('npmrc', 36)}`,
    secrets: [invented('npmrc', 36)],
  },
  {
    name: 'a token in colour',
    text: `\u001b[1;32mghp_${invented('colour', 36)}\u001b[0m`,
    secrets: [invented('colour', 36)],
  },
  {
    name: 'a token behind an escaped line end',
    text: JSON.stringify({ log: `first\nghp_${invented('escaped', 36)}\n` }),
    secrets: [invented('escaped', 36)],
  },
]

/** Whether a text reveals a secret: eight of its characters are enough. */
export function shows(text: string, { secrets }: Pick<Printed, 'secrets'>): boolean {
  for (const [length, pieces] of piecesOf(secrets))
    for (let at = 0; at + length <= text.length; at++)
      if (pieces.has(text.slice(at, at + length))) return true
  return false
}

/** The pieces that must not be shown, by their lengths. */
type Pieces = ReadonlyMap<number, ReadonlySet<string>>

/** Tests look for the same secrets in thousands of texts. */
const knownPieces = new WeakMap<readonly string[], Pieces>()

function piecesOf(secrets: readonly string[]): Pieces {
  const known = knownPieces.get(secrets)
  if (known !== undefined) return known
  const pieces = new Map<number, Set<string>>()
  for (const secret of secrets) {
    const length = Math.min(8, secret.length)
    const same = pieces.get(length) ?? new Set()
    for (let at = 0; at + length <= secret.length; at++) same.add(secret.slice(at, at + length))
    pieces.set(length, same)
  }
  knownPieces.set(secrets, pieces)
  return pieces
}

/** Texts that must stay unchanged. */
export const INNOCENTS: readonly string[] = [
  'The quick brown fox jumps over the lazy dog; internationalisation and counterrevolutionaries.',
  'commit 3cd3d7b1f0e9a8b7c6d5e4f3a2b1c0d9e8f7a6b5',
  'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08  package.tgz',
  'sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==',
  '550e8400-e29b-41d4-a716-446655440000 and p_7k3m2q9x4v8b1n6c5d0fgh',
  `<img src="data:image/png;base64,${invented('picture', 4_000, BASE64)}=="/>`,
  invented('picture on one line', 30_000, BASE64),
  'http://localhost:3000/ is up, and https://example.org:8443/a/b?key=value&token=next#top',
  '  ➜  Local:   http://localhost:5173/@vite/client',
  'git clone git@github.com:org/repo.git && cd repo',
  'const token = await getToken({ apiKey: config.apiKey })',
  'interface Headers { authorization: string | undefined; cookie?: string }',
  "if (header('authorization') === undefined) throw noToken()",
  `headers: { Authorization: \`Bearer \${token}\` },`,
  'const headers = { authorization: token, accept: type }',
  'headers: { authorization: await tokenOf(user), cookie }',
  '  Authorization: this.#token,',
  'authorization: undefined',
  'if (request.headers.authorization === undefined) return',
  'const authorization = request.headers.authorization ?? none',
  'The authorization: who may do what, and why.',
  '{"authorization":"string"}',
  '    return fetch(url, { headers: { Authorization: auth } })',
  "curl -H 'Authorization: Bearer $TOKEN' https://api.example.org/v1",
  `postgres://user:\${PASSWORD}@host/db and postgres://user:<password>@host/db`,
  `TOKEN=$1\nexport API_KEY="$OTHER_KEY"\nSECRET=$(pass show it)\nAUTH_TOKEN=\${TOKEN:-none}`,
  'DEBUG_TOKEN=true\nUSE_KEY=1\nPRIVATE_KEY=',
  'sorted(items, key=lambda item: item.name, reverse=True)',
  '    api_key=os.environ["OPENAI_API_KEY"],',
  'PATH=/usr/bin:/bin\nHOME=/root\nPWD=/work\nSHLVL=1\nTERM=xterm-256color\nKEYBOARD=us',
  "if (text.includes('-----BEGIN PRIVATE KEY-----')) return parse(text)\nfunction parse() {}",
  "const pem = '-----BEGIN PRIVATE KEY-----\\n' + body + '\\n-----END PRIVATE KEY-----'",
  `-----BEGIN CERTIFICATE-----\n${invented('certificate', 64, BASE64)}\n-----END CERTIFICATE-----`,
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFakePublicKeyThatIsLongEnoughToBeOne user@host',
  'npm_config_registry=https://registry.npmjs.org/ npm_lifecycle_event=test',
  'pip install sk-learn-contrib-something-very-long-indeed task-management-for-everybody',
  'eyJoZWxsbyI6IndvcmxkIGFuZCBtb3JlIn0 is JSON in base64',
  '2026-11-15T16:45:18.123Z INFO [worker-1] request_id=abc123 status=200 duration=12ms',
  'src/command/output/line-finder.test.ts:33:12 - error TS2345: Argument of type',
  'keyboard-interactive authentication methods: publickey,password',
  'MONKEY==BANANA ? a : b',
  '日本語のテキスト と émojis 🎉 und Umlaute: Schlüssel=Wert',
]
