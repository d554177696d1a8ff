/** The worker thread of one script: a VM without files, network, environment, timers and modules. It is ended from outside. */
import { stripTypeScriptTypes } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { EvalFlags, type HostFunction, Intrinsics, type JSValueHandle, QuickJS } from 'quickjs-wasi'
import { MAX_CALL_CHARS, MAX_CALLS } from '../core/script/limits.ts'
import { MAX_SNAPSHOT_BYTES } from '../core/script/snapshot.ts'
import { GUEST } from './guest.ts'
import type { CallAnswer, FromVm, ScriptCall, Stretch, ToVm, VmData } from './messages.ts'

const { program, limits }: VmData = workerData
const port = parentPort
if (port === null) throw new Error('This file is the program of a worker thread.')
// Type stripping warns that it is experimental. Its errors are reported to the caller.
process.removeAllListeners('warning')

/** How it goes on is not the same in every run with these. */
const LEFT_OUT = Intrinsics.PERFORMANCE | Intrinsics.WEAK_REF

/** Less than the engine has, so that it notices the end of its stack also within its own functions. */
const STACK_BYTES = 256 * 1024

/** The functions of the guest, as tokens that a snapshot keeps. */
interface Guest {
  readonly begin: number
  readonly answer: number
  readonly fail: number
}

let vm: QuickJS | undefined
let guest: Guest | undefined
let time = 0
let stretchEnds = 0
let calls: ScriptCall[] = []
let made = 0
/** Calls without an answer. */
let open = 0
let ended: Stretch | undefined

port.on('message', (message: ToVm) => {
  handle(message).catch((error: unknown) => send({ type: 'failed', reason: reasonOf(error), printed: '' }))
})
send({ type: 'ready' })

async function handle(message: ToVm): Promise<void> {
  stretchEnds = Date.now() + limits.computeMs
  if (message.type !== 'snapshot') time = message.time
  switch (message.type) {
    case 'snapshot':
      return send({ type: 'snapshot', state: snapshot() })
    case 'begin':
      vm = await QuickJS.create(options())
      begin(vm, message.source, message.args)
      break
    case 'restore':
      vm = await restored(message.state)
      return send({ type: 'waiting', calls: [] })
    case 'answer':
      answer(vm, message.answer)
      break
  }
  vm?.executePendingJobs()
  send(stretch())
}

function begin(opened: QuickJS, source: string, args: string): void {
  const host = opened.newFunction('host', fromGuest)
  const made = opened.callFunction(opened.evalCode(`(${GUEST})`, 'reeve'), opened.undefined, host)
  guest = {
    begin: opened.exportHandle(made.getProp('begin')),
    answer: opened.exportHandle(made.getProp('answer')),
    fail: opened.exportHandle(made.getProp('fail')),
  }
  const text = stripTypeScriptTypes(source)
  try {
    const module = opened.evalCode(text, 'script.ts', EvalFlags.TYPE_MODULE)
    call(opened, guest.begin, module, opened.newString(args))
  } catch (error) {
    opened.executePendingJobs()
    ended ??= { type: 'failed', reason: reasonOf(error), printed: '' }
  }
}

function answer(opened: QuickJS | undefined, { n, isError, json }: CallAnswer): void {
  if (opened === undefined || guest === undefined) return
  open -= 1
  call(
    opened,
    guest.answer,
    opened.newNumber(n),
    isError ? opened.true : opened.false,
    opened.newString(json),
  )
}

function call(opened: QuickJS, token: number, ...args: JSValueHandle[]): void {
  const called = opened.importHandle(token)
  opened.callFunction(called, opened.undefined, ...args).dispose()
  called.dispose()
  for (const arg of args) if (arg !== opened.true && arg !== opened.false) arg.dispose()
}

/** Called by the guest, and so by a script that has got hold of nothing more: it believes none of the arguments. */
function fromGuest(this: JSValueHandle, ...[kind, n, text, more]: JSValueHandle[]): JSValueHandle {
  const none = this.vm.undefined
  if (kind === undefined || n === undefined || text === undefined || more === undefined) return none
  if (!kind.isString || !n.isNumber || !text.isString || !more.isString) return none
  switch (kind.toString()) {
    case 'call': {
      const call = { n: n.toNumber(), tool: text.toString(), input: more.toString() }
      if (call.n !== made + 1 || call.n > MAX_CALLS || call.input.length > MAX_CALL_CHARS) return none
      made = call.n
      open += 1
      calls.push(call)
      return none
    }
    case 'returned':
      ended ??= { type: 'returned', value: text.toString(), printed: more.toString() }
      return none
    case 'failed':
      ended ??= { type: 'failed', reason: text.toString(), printed: more.toString() }
  }
  return none
}

function stretch(): Stretch {
  if (ended !== undefined) return ended
  if (open === 0) return { type: 'failed', reason: 'It waits for something that never comes.', printed: '' }
  const fresh = calls
  calls = []
  return { type: 'waiting', calls: fresh }
}

/** The whole state of the VM, compressed: it continues in any other VM of the same program. */
function snapshot(): Uint8Array | null {
  if (vm === undefined || guest === undefined) return null
  vm.runGC()
  const state = QuickJS.serializeSnapshot(vm.snapshot())
  const head = Buffer.from(`${JSON.stringify({ guest, made, open })}\n`)
  const packed = zstdCompressSync(Buffer.concat([head, state]))
  return packed.length > MAX_SNAPSHOT_BYTES ? null : packed
}

async function restored(packed: Uint8Array): Promise<QuickJS> {
  const bytes = zstdDecompressSync(packed)
  const end = bytes.indexOf(0x0a)
  const head: { readonly guest: Guest; readonly made: number; readonly open: number } = JSON.parse(
    bytes.toString('utf8', 0, end),
  )
  const opened = await QuickJS.restore(QuickJS.deserializeSnapshot(bytes.subarray(end + 1)), options())
  opened.registerHostCallback('host', fromGuest satisfies HostFunction)
  guest = head.guest
  made = head.made
  open = head.open
  return opened
}

function options() {
  return {
    wasm: program,
    memoryLimit: limits.memoryBytes,
    maxStackSize: STACK_BYTES,
    intrinsics: Intrinsics.ALL & ~LEFT_OUT,
    timezoneOffset: 0,
    interruptHandler: () => Date.now() > stretchEnds,
    wasi: (memory: { readonly buffer: ArrayBuffer }) => ({
      // The time stands still while it computes, and the seed of its random numbers follows from the time: a replay is the same.
      clock_time_get(_clock: number, _precision: bigint, at: number) {
        new DataView(memory.buffer).setBigUint64(at, BigInt(time) * 1_000_000n, true)
        return 0
      },
      random_get(at: number, length: number) {
        new Uint8Array(memory.buffer, at, length).fill(0)
        return 0
      },
      // The engine's own messages.
      fd_write: () => 0,
    }),
  }
}

function reasonOf(error: unknown): string {
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return reason.slice(0, 8_000).toWellFormed()
}

function send(message: FromVm): void {
  port?.postMessage(message)
}
