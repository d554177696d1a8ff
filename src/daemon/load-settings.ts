import { readFileSync } from 'node:fs'
import { codeOf } from '../base/error-text.ts'
import { isObject } from '../base/is-object.ts'
import { isLoopback } from '../client/address.ts'
import { ReeveError } from '../core/errors.ts'
import type { HomePaths } from '../home/paths.ts'
import {
  PARSED_ONCE,
  type Setting,
  type SettingName,
  type Settings,
  settings,
  settingsSchema,
} from './settings.ts'

type Source = 'flag' | 'environment' | 'file' | 'default'

export interface Configuration {
  readonly values: Settings
  readonly sources: Readonly<Record<SettingName, Source>>
}

/** The values of flags as text, by name of the setting; a switch may be `true`. */
export type Flags = { readonly [name in SettingName]?: string | boolean | undefined }

/** The effective settings and their sources: a flag goes before the environment, that before reeve.json, that before the default. */
export function configuration(
  flags: Flags,
  env: Readonly<Record<string, string | undefined>>,
  { config }: HomePaths,
): Configuration {
  const file = readFile(config)
  refuseUnknown(file, config)
  const values: Record<string, unknown> = {}
  const sources: Record<string, Source> = {}
  for (const setting of settings) {
    const { name } = setting
    const { source, given, where } = firstGiven(setting, flags, env, file, config)
    sources[name] = source
    values[name] = source === 'default' ? setting.default : checked(setting, given, where)
  }
  const all = values as Settings
  refuseExposed(all)
  return { values: all, sources: sources as Record<SettingName, Source> }
}

interface Given {
  readonly source: Source
  readonly given: unknown
  /** The flag, variable or key that gave it, for error texts. */
  readonly where: string
}

function firstGiven(
  { name, flag, variable, standardVariable }: Setting,
  flags: Flags,
  env: Readonly<Record<string, string | undefined>>,
  file: Readonly<Record<string, unknown>>,
  config: string,
): Given {
  if (flags[name] !== undefined) return { source: 'flag', given: meantBy(name, flags[name]), where: flag }
  for (const where of standardVariable === null ? [variable] : [variable, standardVariable]) {
    const text = env[where]
    if (text !== undefined && text !== '') return { source: 'environment', given: meantBy(name, text), where }
  }
  const where = `${name} in ${config}`
  return file[name] === undefined
    ? { source: 'default', given: undefined, where }
    : { source: 'file', given: file[name], where }
}

/** The schema refuses a text that is no JSON. */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Converts text to the type of the setting. Text that cannot be converted stays text, and the schema refuses it. */
function meantBy(name: SettingName, given: string | boolean): unknown {
  if (typeof given === 'boolean') return given
  const fallback = settings.find((setting) => setting.name === name)?.default
  if (typeof fallback === 'boolean')
    return { true: true, '1': true, false: false, '0': false }[given] ?? given
  if (typeof fallback === 'number') return /^\d+$/.test(given) ? Number(given) : given
  if (Array.isArray(fallback)) return given.split(',').map((one) => one.trim())
  if (isObject(fallback)) return parsedJson(given)
  return given
}

function checked({ name, description }: Setting, given: unknown, where: string): unknown {
  const parsed = settingsSchema.shape[name].safeParse(given, PARSED_ONCE)
  if (parsed.success) return parsed.data
  const said = [...new Set(parsed.error.issues.map(({ message }) => message))].join(', ')
  const value = JSON.stringify(given)
  throw bad(
    `${where} is ${value}, which cannot be used: ${said}.`,
    `${name} is ${description}; ${rightValue(name)}`,
    { key: name, value: given, where },
  )
}

function rightValue(name: SettingName): string {
  const { anyOf, ...schema } = settingsSchema.shape[name].toJSONSchema({ io: 'input' })
  const {
    type,
    minimum,
    maximum,
    enum: choices,
  } = (anyOf?.[0] ?? schema) as {
    type?: string
    minimum?: number
    maximum?: number
    enum?: readonly unknown[]
  }
  const fallback = JSON.stringify(settings.find((setting) => setting.name === name)?.default)
  if (choices !== undefined) return `give one of ${choices.join(', ')}.`
  if (type === 'integer') return `give a whole number from ${minimum} to ${maximum}, like ${fallback}.`
  if (type === 'boolean') return 'give true or false.'
  if (name === 'hosts') return 'give names, like reeve.example.com or reeve.example.com:8443.'
  if (name === 'otelEndpoint') return 'give a URL, like http://localhost:4318.'
  if (name === 'listen') return `give host:port, like ${fallback}, or off.`
  return `give a text${fallback === 'null' ? '' : `, like ${fallback}`}.`
}

function readFile(path: string): Readonly<Record<string, unknown>> {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return {}
    throw bad(
      `${path} cannot be read: ${(error as Error).message}.`,
      'Correct its permissions, or remove it.',
      {
        path,
      },
    )
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw bad(`${path} is not JSON: ${(error as Error).message}.`, 'Correct it, or remove it.', { path })
  }
  if (isObject(value)) return value
  throw bad(
    `${path} holds ${JSON.stringify(value)} and not an object.`,
    'Write { "listen": "off" }, for example.',
    {
      path,
    },
  )
}

function refuseUnknown(file: Readonly<Record<string, unknown>>, path: string): void {
  const known = [...settings.map(({ name }) => name as string), '$schema']
  const unknown = Object.keys(file).find((key) => !known.includes(key))
  if (unknown === undefined) return
  throw bad(
    `${unknown} in ${path} (${JSON.stringify(file[unknown])}) is not a setting.`,
    `The settings are: ${known.join(', ')}.`,
    { key: unknown, value: file[unknown], where: path },
  )
}

/** An address that other machines can reach needs TLS, unless the user asks for an insecure one. */
function refuseExposed({ listen, insecure, tlsCert, tlsKey }: Settings): void {
  if ((tlsCert === null) !== (tlsKey === null)) {
    throw bad('tlsCert and tlsKey belong together, but one of them is missing.', 'Give both, or neither.', {
      key: tlsCert === null ? 'tlsCert' : 'tlsKey',
      value: null,
    })
  }
  const { host } = addressOf(listen) ?? { host: 'localhost' }
  if (isLoopback(host) || tlsCert !== null || insecure) return
  throw bad(
    `listen is ${JSON.stringify(listen)}: other machines can reach that address, and without TLS the network can read tokens and output.`,
    'Give tlsCert and tlsKey, or listen on 127.0.0.1; --insecure allows it all the same.',
    { key: 'listen', value: listen },
  )
}

/** Null for `off`. */
export function addressOf(listen: string): { host: string; port: number } | null {
  if (listen === 'off') return null
  const at = listen.lastIndexOf(':')
  return { host: listen.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(listen.slice(at + 1)) }
}

function bad(message: string, remedy: string, details: Readonly<Record<string, unknown>>): ReeveError {
  return new ReeveError('bad_configuration', message, remedy, { details })
}
