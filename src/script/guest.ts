import { MAX_CALL_CHARS, MAX_CALLS, MAX_OUTPUT_CHARS } from '../core/script/limits.ts'

/**
 * The code that every VM runs first, inside the VM. It takes the built-ins that it needs before a script can change them, and keeps the
 * resolvers of pending calls, so that a snapshot of the VM has them. `host(kind, n, text, more)` is the one way out.
 */
export const GUEST = `(host) => {
  'use strict'
  const { parse, stringify } = JSON
  const { apply } = Reflect
  const { then } = Promise.prototype
  const { get, set, delete: remove } = Map.prototype
  const { slice } = String.prototype
  const { join } = Array.prototype
  const Pending = Map, Later = Promise, Failure = Error, TooMuch = RangeError, text = String
  const pending = new Pending()
  let made = 0
  let printed = ''
  const cut = (said, most) => (said.length > most ? apply(slice, said, [0, most]) : said)
  const say = (value) => {
    if (typeof value === 'string') return value
    try { return stringify(value) ?? text(value) } catch { return '(a value without text)' }
  }
  const call = (tool, input) => new Later((resolve, reject) => {
    const json = stringify(input === undefined ? {} : input)
    if (json === undefined) throw new Failure('The input of ' + tool + ' must be JSON.')
    if (json.length > ${MAX_CALL_CHARS}) throw new TooMuch('The input of ' + tool + ' is longer than ${MAX_CALL_CHARS} characters.')
    if (made === ${MAX_CALLS}) throw new TooMuch('A script may make ${MAX_CALLS} calls.')
    made += 1
    apply(set, pending, [made, { __proto__: null, resolve, reject }])
    host('call', made, tool, json)
  })
  const reeve = new Proxy({ __proto__: null }, {
    __proto__: null,
    get: (_, tool) => (typeof tool === 'string' && tool !== 'then' ? (input) => call(tool, input) : undefined),
    set: () => false,
    defineProperty: () => false,
    setPrototypeOf: () => false,
  })
  const print = (...values) => {
    const texts = []
    for (let at = 0; at < values.length; at += 1) texts[at] = say(values[at])
    printed = cut(printed + apply(join, texts, [' ']) + '\\n', ${MAX_OUTPUT_CHARS})
  }
  const log = { __proto__: null, value: print, enumerable: true }
  Object.defineProperty(globalThis, 'console', {
    value: Object.create(Object.prototype, { log, info: log, warn: log, error: log, debug: log }),
  })
  const reasonOf = (error) => {
    try {
      if (typeof error !== 'object' || error === null) return say(error)
      const { name, message } = error
      return typeof message === 'string' ? (typeof name === 'string' ? name + ': ' + message : message) : say(error)
    } catch { return 'It threw a value that has no text.' }
  }
  const fail = (error) => host('failed', 0, cut(reasonOf(error), 8000), printed)
  return {
    __proto__: null,
    begin(module, args) {
      const main = apply(then, module, [(names) => {
        const run = names.default
        if (typeof run !== 'function') throw new TypeError('A script must be: export default async (args, reeve) => …')
        return run(parse(args), reeve)
      }])
      const said = apply(then, main, [(value) => {
        const json = stringify(value === undefined ? null : value)
        if (json === undefined) throw new TypeError('The result of a script must be JSON.')
        const isLong = printed.length + json.length > ${MAX_OUTPUT_CHARS}
        if (isLong) host('returned', 0, 'null', cut(printed + json, ${MAX_OUTPUT_CHARS}) + '\\n(cut off after ${MAX_OUTPUT_CHARS} characters)')
        else host('returned', 0, json, printed)
      }])
      apply(then, said, [undefined, fail])
    },
    answer(n, isError, json) {
      const waiting = apply(get, pending, [n])
      if (waiting === undefined) return
      apply(remove, pending, [n])
      const value = parse(json)
      if (isError) waiting.reject(new Failure(value))
      else waiting.resolve(value)
    },
    fail,
  }
}`
