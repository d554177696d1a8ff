import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { WAIT_TIMES } from '../../src/actions/wait-times.ts'
import { COMMAND_DEFAULTS } from '../../src/command/defaults.ts'
import { ReeveError } from '../../src/core/errors.ts'
import { FLOOD_LIMITS } from '../../src/core/inbox/flood.ts'
import { configuration, type Flags } from '../../src/daemon/load-settings.ts'
import { SECRET_VARIABLES } from '../../src/daemon/run.ts'
import { configurationJsonSchema, settings } from '../../src/daemon/settings.ts'
import { homePaths } from '../../src/home/paths.ts'
import { tempFolder } from '../temp-folder.ts'

function configured(file: unknown, flags: Flags = {}, env: Record<string, string> = {}) {
  const home = homePaths(tempFolder())
  const text = typeof file === 'string' ? file : JSON.stringify(file)
  if (file !== undefined) writeFileSync(home.config, text)
  return configuration(flags, env, home)
}

function refused(file: unknown, flags: Flags = {}, env: Record<string, string> = {}): ReeveError {
  try {
    configured(file, flags, env)
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'bad_configuration') return error
    throw error
  }
  throw new Error('It was accepted.')
}

test('a flag goes before the environment, that before the file, and that before the default', () => {
  const file = { graceMs: 1, logLevel: 'warn', mostCommands: 7 }
  const { values, sources } = configured(
    file,
    { graceMs: '3' },
    { REEVE_GRACE_MS: '2', REEVE_LOG_LEVEL: 'debug' },
  )
  expect(values).toMatchObject({ graceMs: 3, logLevel: 'debug', mostCommands: 7, tree: 'auto' })
  expect(sources).toMatchObject({
    graceMs: 'flag',
    logLevel: 'environment',
    mostCommands: 'file',
    tree: 'default',
  })
})

test('text stands for numbers, switches and lists', () => {
  const { values } = configured(undefined, {
    insecure: true,
    hosts: 'a.example, b.example',
    mostCommands: '12',
  })
  expect(values).toMatchObject({ insecure: true, hosts: ['a.example', 'b.example'], mostCommands: 12 })
  expect(configured(undefined, {}, { REEVE_INSECURE: '1' }).values.insecure).toBe(true)
})

test('a bad value is refused with its key, value, source and the allowed values', () => {
  const cases: readonly [ReeveError, string, RegExp, RegExp][] = [
    [refused({ mostCommands: 0 }), 'mostCommands', /mostCommands in .*reeve\.json is 0/, /from 1 to 10000/],
    [refused({ mostCommands: '5' }), 'mostCommands', /is "5"/, /whole number/],
    [refused({}, { logLevel: 'loud' }), 'logLevel', /--log-level is "loud"/, /trace, debug, info/],
    [refused({}, {}, { REEVE_LISTEN: 'here' }), 'listen', /REEVE_LISTEN is "here"/, /host:port/],
    [refused({ listen: '127.0.0.1:99999' }), 'listen', /99999/, /host:port/],
    [refused({}, { graceMs: '2s' }), 'graceMs', /--grace-ms is "2s"/, /whole number/],
    [refused({ insecure: 'yes' }), 'insecure', /is "yes"/, /true or false/],
    [refused({ mostComands: 5 }), 'mostComands', /mostComands in .* \(5\) is not a setting/, /mostCommands/],
  ]
  for (const [error, key, message, remedy] of cases) {
    expect(error.details['key']).toBe(key)
    expect(error.message).toMatch(message)
    expect(error.remedy).toMatch(remedy)
  }
})

test('a file that is not JSON, or not an object, is refused by its name', () => {
  expect(refused('{ "listen": ').message).toMatch(/reeve\.json is not JSON/)
  expect(refused('[]').message).toMatch(/reeve\.json holds \[\] and not an object/)
})

test('an address beyond this machine needs TLS or --insecure', () => {
  expect(refused({ listen: '0.0.0.0:7337' }).remedy).toMatch(/--insecure/)
  expect(refused({ listen: '[::]:7337' }).details).toMatchObject({ key: 'listen' })
  expect(refused({ tlsCert: 'cert.pem' }).message).toMatch(/belong together/)
  for (const listen of ['127.0.0.1:1', '127.9.9.9:1', 'localhost:1', '[::1]:1', 'off'])
    expect(configured({ listen }).values.listen).toBe(listen)
  expect(configured({ listen: '0.0.0.0:1', insecure: true }).values.insecure).toBe(true)
  expect(configured({ listen: '0.0.0.0:1', tlsCert: 'c', tlsKey: 'k' }).values.tlsKey).toBe('k')
})

test('every setting has a flag, a variable, a description and a valid default', () => {
  for (const { name, flag, variable, description, default: fallback } of settings) {
    expect(flag).toMatch(/^--[a-z-]+$/)
    expect(variable).toMatch(/^REEVE_[A-Z_]+$/)
    expect(description).not.toBe('')
    if (fallback !== null) expect(configured({ [name]: fallback }).values[name]).toEqual(fallback)
  }
})

test('the published schema is the one of the settings', () => {
  const published = JSON.parse(readFileSync(join('docs', 'reeve.schema.json'), 'utf8'))
  expect(published, 'run: node scripts/write-config-schema.ts').toEqual(
    JSON.parse(JSON.stringify(configurationJsonSchema())),
  )
})

test('variables that may contain a password are kept from commands', () => {
  const secret = settings
    .filter(({ isSecret }) => isSecret)
    .flatMap(({ variable, standardVariable }) => [variable, standardVariable].filter((name) => name !== null))
  expect(SECRET_VARIABLES).toEqual(secret)
})

test('the standard variables of OpenTelemetry work, and Reeve’s own go before them', () => {
  const standard = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318',
    OTEL_EXPORTER_OTLP_HEADERS: 'key=value',
  }
  expect(configured(undefined).values).toMatchObject({ otelEndpoint: null, otelHeaders: null })
  const { values, sources } = configured({ otelEndpoint: 'http://file:1' }, {}, standard)
  expect(values).toMatchObject({ otelEndpoint: 'http://localhost:4318', otelHeaders: 'key=value' })
  expect(sources.otelEndpoint).toBe('environment')
  const own = { ...standard, REEVE_OTEL_ENDPOINT: 'https://own:1' }
  expect(configured(undefined, {}, own).values.otelEndpoint).toBe('https://own:1')
  const error = refused(undefined, {}, { OTEL_EXPORTER_OTLP_ENDPOINT: 'localhost:4318' })
  expect(error.message).toMatch(/OTEL_EXPORTER_OTLP_ENDPOINT is "localhost:4318"/)
  expect(refused({ otelEndpoint: 'http://user:word@host:4318' }).message).toMatch(/without a password/)
  expect(error.remedy).toMatch(/give a URL, like http:\/\/localhost:4318/)
})

test('a setting has the default of the code that it configures, so that a daemon and embed() behave alike', () => {
  const { values } = configured(undefined)
  const { most, graceMs, environment, tree, ...output } = COMMAND_DEFAULTS
  expect(values).toMatchObject({
    graceMs,
    environment,
    tree,
    mostCommands: most,
    waitMs: WAIT_TIMES.defaultMs,
  })
  expect({
    headBytes: values.outputHeadBytes,
    tailBytes: values.outputTailBytes,
    totalBytes: values.outputTotalBytes,
    minFreeBytes: values.minFreeBytes,
  }).toEqual(output)
  expect({
    everyMs: values.watchEveryMs,
    strikes: values.watchStrikes,
    burst: values.watchBurst,
    burstMs: values.watchBurstMs,
    silenceMs: values.watchSilenceMs,
  }).toEqual(FLOOD_LIMITS)
})
