import {
  ALNUM,
  BASE64,
  base64,
  border,
  HEX,
  hide,
  jwt,
  type Leak,
  leak,
  privateKey,
  random,
  URL_SAFE,
  uuid,
} from '../blind-corpus/fake.ts'

const protocol = (text: string): Leak => leak('protocol', text)
const SAFE_PASSWORD = `${ALNUM}._~-`
const pass = (length = 14): string => hide(random(length, SAFE_PASSWORD))
const key = (length = 40): string => hide(random(length, ALNUM))
const claims = { sub: '4711', email: 'mira@acme.dev', iat: 1767225600 }

/** Secrets in headers, addresses, connection strings, keys and command options. */
export const protocolSecrets: readonly Leak[] = [
  protocol(`DATABASE_URL=postgres://shop:${pass()}@db.internal:5432/shop?sslmode=require`),
  protocol(`could not connect: mongodb+srv://root:${pass(16)}@cluster0.ab1cd.mongodb.net/?retryWrites=true`),
  protocol(`redis://:${pass(24)}@cache.internal:6379/0`),
  protocol(`amqps://guest:${pass(12)}@mq.acme.dev/%2Fprod: connection refused`),
  protocol(`jdbc:mysql://db:3306/shop?user=shop&password=${pass()}&useSSL=false`),
  protocol(`Server=tcp:acme.database.windows.net,1433;User ID=sa;Password=${pass(16)};Encrypt=True;`),
  protocol(`host=db1 port=5432 dbname=shop user=etl password=${pass()} connect_timeout=10`),
  protocol(`shop:${pass()}@tcp(10.0.0.4:3306)/shop?parseTime=true`),
  protocol(
    `Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=${hide(random(43, BASE64))}=`,
  ),
  protocol(`pip install --index-url https://ci:${pass(20)}@nexus.acme.dev/simple acme-core`),
  protocol(`git remote -v\norigin  https://mira:${pass(20)}@git.acme.dev/core.git (fetch)`),
  protocol(`ftp://backup:${pass(12)}@10.0.0.9/dumps/2026-01-01.sql.gz`),
  protocol(`> Authorization: Basic ${hide(base64(`mira:${random(14, ALNUM)}`))}\n> User-Agent: curl/8.9.1`),
  protocol(`< set-cookie: session=${key(64)}; Path=/; HttpOnly; Secure; SameSite=Lax`),
  protocol(`Cookie: theme=dark; connect.sid=s%3A${hide(random(32, URL_SAFE))}.${hide(random(43, ALNUM))}`),
  protocol(`Set-Cookie: PHPSESSID=${hide(random(26, 'abcdefghijklmnopqrstuv0123456789'))}; path=/`),
  protocol(`curl -H 'Cookie: _acme_session=${key(96)}--${hide(random(40, HEX))}' https://acme.dev/admin`),
  protocol(`curl -u admin:${pass(12)} https://jenkins.acme.dev/job/deploy/build`),
  protocol(`http POST :8080/login 'X-Auth-Token:${key(32)}'`),
  protocol(`wget --http-user=ci --http-password=${pass(14)} https://files.acme.dev/a.tgz`),
  protocol(`mysql -h db1 -u root -p${hide(random(14, ALNUM))} shop < dump.sql`),
  protocol(`PGPASSWORD=${pass(16)} psql -h db1 -U shop -c 'select 1'`),
  protocol(`sshpass -p '${pass(14)}' ssh deploy@10.0.0.3 uptime`),
  protocol(`redis-cli -h cache -a ${pass(20)} ping`),
  protocol(`keytool -list -keystore app.jks -storepass ${pass(12)} -keypass ${pass(12)}`),
  protocol(`ldapsearch -x -D cn=admin,dc=acme -w ${pass(14)} -b dc=acme`),
  protocol(
    `https://acme.blob.core.windows.net/b/x.zip?sv=2024-11-04&se=2026-02-01&sr=b&sp=r&sig=${hide(random(43, ALNUM))}%3D`,
  ),
  protocol(
    `https://acme.s3.amazonaws.com/x?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=900&X-Amz-Signature=${hide(random(64, HEX))}`,
  ),
  protocol(`GET /reset?email=mira%40acme.dev&token=${key(40)} HTTP/1.1" 200 5123`),
  protocol(`https://app.acme.dev/callback#access_token=${hide(random(60, URL_SAFE))}&token_type=bearer`),
  protocol(`id_token: ${jwt(claims)}`),
  protocol(`DEBUG auth.middleware verified ${jwt(claims, 'RS256')}`),
  protocol(`{"token":"${jwt(claims)}","exp":3600}`),
  protocol(privateKey('RSA PRIVATE KEY', 6, 'MIIEpAIBAAKCAQEA').join('\n')),
  protocol(
    `$ cat ~/.ssh/id_ed25519\n${privateKey('OPENSSH PRIVATE KEY', 4, 'b3BlbnNzaC1rZXktdjEAAAAABG5vbmU').join('\n')}`,
  ),
  protocol(
    `tls.key: |\n${privateKey('PRIVATE KEY', 5, 'MIIEvQIBADANBgkqhkiG9w0')
      .map((line) => `    ${line}`)
      .join('\n')}`,
  ),
  protocol(
    [
      border('BEGIN', 'PGP PRIVATE KEY BLOCK'),
      'Version: GnuPG v2',
      '',
      ...Array.from({ length: 6 }, () => hide(random(64, BASE64))),
      `=${random(4, BASE64)}`,
      border('END', 'PGP PRIVATE KEY BLOCK'),
    ].join('\n'),
  ),
  protocol(
    privateKey('EC PRIVATE KEY', 2, 'MHcCAQEEI')
      .map((line, at) => `${at + 1}\t${line}`)
      .join('\n'),
  ),
  protocol(
    privateKey('RSA PRIVATE KEY', 4, 'MIIEow')
      .map((line) => `+${line}`)
      .join('\n'),
  ),
  protocol(`[Interface]\nAddress = 10.8.0.2/24\nPrivateKey = ${hide(random(43, BASE64))}=\nDNS = 1.1.1.1`),
  protocol(
    `PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: mira\nPrivate-Lines: 1\n${hide(random(48, BASE64))}\nPrivate-MAC: ${random(64, HEX)}`,
  ),
  protocol(`{"auths":{"ghcr.io":{"auth":"${hide(base64(`mira:${random(24, ALNUM)}`))}"}}}`),
  protocol(`db1.internal:5432:shop:etl:${hide(random(18, ALNUM))}  # ~/.pgpass`),
  protocol(`root:$6$${random(12, ALNUM)}$${hide(random(86, `${ALNUM}./`))}:20111:0:99999:7:::`),
  protocol(`Proxy-Authorization: Basic ${hide(base64(`svc-proxy:${random(16, ALNUM)}`))}`),
  protocol(`HTTPS_PROXY=http://svc:${pass(12)}@proxy.acme.dev:3128`),
  protocol(`grpcurl -H 'authorization: token ${hide(random(40, HEX))}' api.acme.dev:443 list`),
  protocol(`https://${hide(random(32, HEX))}:${hide(random(32, HEX))}@sentry.acme.dev/12`),
  protocol(`users:\n- name: admin\n  user:\n    client-key-data: ${hide(random(160, BASE64))}==`),
  protocol(`http://localhost:8888/lab?token=${hide(random(48, HEX))}`),
  protocol(`x-goog-api-key: ${hide(uuid())}`),
  protocol(
    `Authorization: Digest username="mira", realm="acme", nonce="x", response="${hide(random(32, HEX))}"`,
  ),
]
