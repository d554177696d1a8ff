import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { maskJson } from '../../src/redaction/mask-json.ts'
import { LOOK_AHEAD_BYTES, LOOK_BACK_BYTES, Masker } from '../../src/redaction/masker.ts'
import { INNOCENTS, invented, SECRETS, shows } from './corpus.ts'
import { FAMILIES, LOOKALIKES } from './families.ts'

const masker = new Masker()
const mask = (text: string) => masker.bytes(Buffer.from(text)).toString()

describe('output', () => {
  test.each(SECRETS)('$name is masked, and what stands around it is not', (printed) => {
    const masked = mask(`before\n${printed.text}\nbehind\n`)
    expect(shows(masked, printed)).toBe(false)
    expect(masked).toMatch(/^before\n/)
    expect(masked).toMatch(/\nbehind\n$/)
    expect(masked).toHaveLength(`before\n${printed.text}\nbehind\n`.length)
  })

  test.each(INNOCENTS)('it is left as it is: %s', (text) => {
    expect(mask(text)).toBe(text)
    expect(mask(`${text}\n`)).toBe(`${text}\n`)
    expect(masker.text(text)).toBe(text)
  })

  test('the prefix of a token stays', () => {
    expect(mask(`ghp_${invented('x', 36)} and more`)).toBe(`ghp_${'*'.repeat(36)} and more`)
  })

  test('a YAML block is masked even if its name is the first output', () => {
    expect(mask('passphrase: |\n  swordfish\nuser: bob\n')).toBe('passphrase: |\n  *********\nuser: bob\n')
  })

  test('a known value is masked everywhere, and a multi-line value line by line', () => {
    const known = new Masker({ values: ['hunter2-and-more', `first line 1\nsecond line 2`, 'pässwört-lang'] })
    expect(known.bytes(Buffer.from('xhunter2-and-morex')).toString()).toBe(`x${'*'.repeat(16)}x`)
    expect(known.bytes(Buffer.from('a first line 1 b\n second line 2')).toString()).not.toMatch(/line/)
    expect(known.bytes(Buffer.from('pässwört-lang')).toString()).toBe('*'.repeat(15))
    expect(known.text('pässwört-lang')).toBe('*'.repeat(13))
  })

  test('common words are not masked, even if they were given as secrets', () => {
    const known = new Masker({ values: ['true', 'postgres', 'a'] })
    expect(known.text('postgres says true to a')).toBe('postgres says true to a')
  })

  test('matches of user patterns are masked within a line; with a group, only the group', () => {
    const own = new Masker({ patterns: ['ACME-[0-9]{6}', 'pin is (\\d+)', 'größe=\\S+'] })
    const masked = own.bytes(Buffer.from('é ACME-123456, pin is 4711\ngröße=12 ende')).toString()
    expect(masked).toBe(`é ${'*'.repeat(11)}, pin is ****\n${'*'.repeat(10)} ende`)
  })
})

describe('a command line', () => {
  test('keeps the command behind a variable', () => {
    expect(masker.text(`API_KEY=${invented('k', 20)} npm start`)).toBe(`API_KEY=${'*'.repeat(20)} npm start`)
  })

  test('has the values of secret options masked', () => {
    const text = 'deploy --token abc123 --password=hunter2 --api-key "k3y" --name web --verbose'
    expect(masker.text(text)).toBe(
      'deploy --token ****** --password=******* --api-key "***" --name web --verbose',
    )
  })
})

describe('a text that was cut, and says so', () => {
  // On a command line a value with blanks ends with its word.
  const whole = SECRETS.filter((printed) => !shows(masker.text(printed.text), printed))

  test.each(whole)('shows nothing of $name', (printed) => {
    for (let length = 0; length <= printed.text.length; length++) {
      const masked = masker.text(`${printed.text.slice(0, length)}…`)
      expect([length, shows(masked, printed)]).toEqual([length, false])
      expect(masked).toHaveLength(length + 1)
    }
  })

  test('shows nothing of a value that was given', () => {
    const known = new Masker({ values: ['unshaped-value-of-mine'] })
    expect(known.text('echo unshaped-value…')).toBe(`echo ${'*'.repeat(14)}…`)
  })

  test('is otherwise left as it is', () => {
    for (const text of [
      'npm run build && node dist/…',
      'see http://localhost:3000…',
      'a line of text that goes on…',
    ])
      expect(masker.text(text)).toBe(text)
  })
})

describe('JSON', () => {
  const token = `ghp_${invented('json', 36)}`
  const masked = `ghp_${'*'.repeat(36)}`

  test('has secrets masked in its keys, however many', () => {
    const other = `ghp_${invented('other', 36)}`
    expect(Object.entries(maskJson(masker, { a: 1, [token]: token, [other]: 2, b: 3 }))).toEqual([
      ['a', 1],
      [masked, masked],
      [`${masked} 2`, 2],
      ['b', 3],
    ])
  })

  test('keeps a number apart from a key that has it already', () => {
    const other = `ghp_${invented('other', 36)}`
    const third = `ghp_${invented('third', 36)}`
    const keys = { [token]: 1, [other]: 2, [`${masked} 2`]: 3, [third]: 4 }
    expect(Object.entries(maskJson(masker, keys))).toEqual([
      [masked, 1],
      [`${masked} 3`, 2],
      [`${masked} 2`, 3],
      [`${masked} 4`, 4],
    ])
  })

  test('with many secret keys is rebuilt once, not once for each key', () => {
    const value = Object.fromEntries(
      Array.from({ length: 200 }, (_, at) => [`ghp_${invented(`key ${at}`, 36)}`, at]),
    )
    const [listed, rebuilt] = [vi.spyOn(Object, 'entries'), vi.spyOn(Object, 'fromEntries')] as const
    const read = vi.spyOn(Object, 'keys')
    const names = Object.values(maskJson(masker, { keys: value }).keys)
    const calls = [listed, rebuilt, read].map(({ mock }) => mock.calls.length)
    vi.restoreAllMocks()
    expect(names).toHaveLength(200)
    for (const count of calls) expect(count).toBeLessThan(5)
  })

  test('shows nothing that lies too deep', () => {
    let deep: unknown = token
    for (let depth = 0; depth < 150; depth++) deep = { a: deep }
    const text = JSON.stringify(maskJson(masker, deep))
    expect(text).toContain('***')
    expect(text).not.toContain(token)
  })

  test('without secrets is the same object', () => {
    const value = { a: [{ b: 'c' }], d: null }
    expect(maskJson(masker, value)).toBe(value)
  })
})

/** Texts that mix secrets, harmless text and noise. */
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom(...SECRETS.map((printed) => printed.text)),
      fc.constantFrom(...FAMILIES.map((printed) => printed.text)),
      fc.constantFrom(...INNOCENTS.filter((one) => one.length < 1_000), ...LOOKALIKES),
      fc.constantFrom(
        '\n',
        ' ',
        '=',
        ':',
        '"',
        '\r\n',
        'ghp_',
        'AKIA',
        'eyJ',
        '://',
        '@',
        'KEY=',
        '-----BEGIN ',
      ),
      fc.string({ maxLength: 20 }),
      fc.string({ unit: 'binary', maxLength: 10 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''))

test('masking keeps the length, and every line end where it is', () => {
  fc.assert(
    fc.property(text, (one) => {
      const bytes = Buffer.from(one)
      const masked = masker.bytes(bytes)
      expect(masked).toHaveLength(bytes.length)
      for (const [at, byte] of bytes.entries())
        if (masked[at] !== byte) expect([masked[at], byte === 10 || byte === 13]).toEqual([42, false])
    }),
  )
})

test('a variable whose value is a key is masked once and for all', () => {
  const base64 = 'JIV3msh5dV6dtBjPo+J3MduTMVJYkjCg6Q2WeTRCH13U4o2P65Djze+dK2w8F4hZ'
  const printed = `KEY=-----BEGIN PRIVATE KEY-----\n${base64}\n${base64}\n-----END PRIVATE KEY-----\n`
  const once = masker.bytes(Buffer.from(printed))
  expect(once.toString()).toMatch(/^KEY=/)
  expect(masker.bytes(once).toString()).toBe(once.toString())
})

test('a word behind a token is behind a word, also when that is masked', () => {
  const once = mask(`got SG.${invented('x', 22)}.The authorization: who may do what, and why.`)
  expect(once).toMatch(/who may do what, and why\.$/)
  expect(mask(once)).toBe(once)
})

test('masking is idempotent', () => {
  fc.assert(
    fc.property(text, (one) => {
      const once = masker.bytes(Buffer.from(one))
      expect(masker.bytes(once).toString('latin1')).toBe(once.toString('latin1'))
    }),
    { numRuns: 300 },
  )
})

test('a read of any range shows the same bytes as a read of the whole', () => {
  fc.assert(
    fc.property(text, fc.nat(), fc.nat(), (one, a, b) => {
      const whole = Buffer.from(one)
      const [from, to] = [a % (whole.length + 1), b % (whole.length + 1)].sort((x, y) => x - y) as [
        number,
        number,
      ]
      const start = Math.max(0, from - LOOK_BACK_BYTES)
      const bytes = Buffer.from(whole.subarray(start, Math.min(whole.length, to + LOOK_AHEAD_BYTES)))
      masker.stretch({ bytes, from: from - start, to: to - start, clean: start === 0, open: false })
      const expected = masker.bytes(whole).subarray(from, to)
      expect(bytes.subarray(from - start, to - start).toString('latin1')).toBe(expected.toString('latin1'))
    }),
    { numRuns: 300 },
  )
})

test.each(SECRETS)(
  '$name: what is decided while the text still grows stays so, and the rest shows no secret',
  (printed) => {
    const whole = Buffer.from(`before\n${printed.text}\n`)
    const final = masker.bytes(whole)
    for (let length = 0; length < whole.length; length++) {
      const bytes = Buffer.from(whole.subarray(0, length))
      const { decided, isClean } = masker.stretch({ bytes, from: 0, to: length, clean: true, open: true })
      expect(bytes.subarray(0, decided).toString('latin1')).toBe(
        final.subarray(0, decided).toString('latin1'),
      )
      expect(shows(bytes.toString(), printed)).toBe(false)
      expect(isClean).toBe(bytes.equals(whole.subarray(0, length)))
    }
  },
)

/** Repetitions of these once made a scan quadratic. */
const REPEATED = [
  '=',
  ':',
  '://',
  'KEY=',
  'eyJ',
  '-----BEGIN PRIVATE KEY-----\n',
  'a-',
  'A=',
  'Authorization: ',
  '-----END ',
  'password: ',
  'password=',
  '"password": "',
  '\\"token\\": \\"',
  "'key', '",
  'Your API key: ',
  'password is ',
  '--password ',
  ' -p -u',
  'mysql -p',
  'Cookie: a=b; ',
  'Cookie: ',
  '| password ',
  'password: |\n  ',
  'Private-Lines: 1\n',
  '<password>',
  'value="',
  'name=x, value=',
  'a:5432:',
  'thin:a/',
  'eyJ.',
  'pat.',
  '\u001b[31m',
  '\u001b[',
  '\u001b]',
  '\u001b',
  'DB_PASSWORD=\\n',
  'https://hooks.slack.com/services/',
  'ENV A_KEY ',
  'config token ',
  "(password) VALUES ('",
  "values (', ",
  '(password) values ',
  '$6$',
  '$',
  'a:b@tcp(',
  'a:',
  '["password"]=>\n',
  'password: Some(\n',
  'variable "password" { default =',
  '<property name="password">',
  'password for a ',
]

test.each(REPEATED)('takes time in proportion to the length of repeated %j', (shape) => {
  const bytes = Buffer.from(shape.repeat(100_000 / shape.length))
  // A quadratic scan would take longer than the test may.
  expect(masker.bytes(bytes).length).toBe(bytes.length)
  expect(masker.text(bytes.toString()).length).toBe(bytes.length)
})
