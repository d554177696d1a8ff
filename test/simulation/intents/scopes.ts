import { grant, revoke, transfer } from '../../../src/kernel/grants.ts'
import { openSession, openTurn, touchSession } from '../../../src/kernel/sessions.ts'
import type { Request } from './intent.ts'
import { someSession } from './requests.ts'

export const scopes: readonly Request[] = [
  {
    name: 'open session',
    weight: 2,
    ask(world, peer, track) {
      const { random } = world.stage
      const isNew = world.sessions.length < 2 || random.chance(0.5)
      const session = isNew ? `s${world.sessions.length + 1}` : random.pick(world.sessions)
      if (isNew) world.sessions.push(session)
      const asked = openSession(peer.kernel.edges, 'host', session, null, allowanceOf(session))
      track(session, asked)
    },
  },
  {
    name: 'touch session',
    weight: 0.5,
    ask(world, peer, track) {
      const session = someSession(world)
      track(session, touchSession(peer.kernel.edges, 'host', session))
    },
  },
  {
    name: 'open turn',
    weight: 1.5,
    ask(world, peer, track) {
      const id = { session: someSession(world), turn: `t${world.turns.length + 1}` }
      world.turns.push(id)
      track(`${id.session} ${id.turn}`, openTurn(peer.kernel.edges, 'host', id))
    },
  },
  {
    name: 'end turn',
    weight: 0.7,
    ask(world, peer, track) {
      if (world.turns.length === 0) return
      const id = world.stage.random.pick(world.turns)
      track(`${id.session} ${id.turn}`, peer.kernel.sessions.endTurn('host', id))
    },
  },
  {
    name: 'end session',
    weight: 0.5,
    ask(world, peer, track) {
      const session = someSession(world)
      track(session, peer.kernel.sessions.end('host', session))
    },
  },
  {
    name: 'delete session',
    weight: 0.4,
    ask(world, peer, track) {
      const session = someSession(world)
      track(session, peer.kernel.sessions.delete('host', session))
    },
  },
  {
    name: 'grant',
    weight: 1,
    ask(world, peer, track) {
      const session = someSession(world)
      const pids = [world.somePid(), world.somePid()]
      track(`${session} ${pids.join(' ')}`, grant(peer.kernel.edges, 'host', session, pids, 'shared'))
    },
  },
  {
    name: 'transfer grants',
    weight: 0.7,
    ask(world, peer, track) {
      const from = someSession(world)
      const to = someSession(world)
      const pids = [world.somePid()]
      track(`${from} to ${to} ${pids.join(' ')}`, transfer(peer.kernel.edges, 'host', from, to, pids))
    },
  },
  {
    name: 'revoke',
    weight: 0.5,
    ask(world, peer, track) {
      const session = someSession(world)
      const pids = [world.somePid()]
      track(`${session} ${pids.join(' ')}`, revoke(peer.kernel.edges, 'host', session, pids))
    },
  },
]

/** The folder that the agent of a session works in; the same each time that the session is opened. */
export function workspaceOf(session: string): string | undefined {
  return session.endsWith('3') ? '/project' : undefined
}

/** The same each time that the session is opened. */
export function allowanceOf(session: string) {
  return session.endsWith('2') ? { toolCalls: 300 } : undefined
}
