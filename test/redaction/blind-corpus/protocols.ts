import {
  ALNUM,
  BASE32,
  BASE64,
  BECH32,
  base64,
  border,
  DIGITS,
  fake,
  HEX,
  hide,
  jwt,
  type Leak,
  LOWER_ALNUM,
  leak,
  PASSWORD,
  privateKey,
  random,
  URL_SAFE,
  uuid,
} from './fake.ts'

/** Credentials that are recognised by their position in a URL, header, key file or connection string. */
export const protocolSecrets: readonly Leak[] = [
  ...connectionStrings(),
  ...urls(),
  ...headers(),
  ...keys(),
  ...tokens(),
]

function connectionStrings(): Leak[] {
  return [
    leak(
      'connection-string',
      `sqlalchemy.exc.OperationalError: could not connect: postgresql+psycopg://app:${hide(random(18, URL_SAFE))}@db-1.internal:5432/orders`,
    ),
    leak(
      'connection-string',
      `DATABASE_URL=postgres://svc_api:${hide('Tr4il%23mix%40Dawn')}@10.4.0.12/prod?sslmode=require`,
    ),
    leak(
      'connection-string',
      `mysql2 connecting to mysql://root:${hide('r3d-Kettle!9')}@127.0.0.1:3306/shop`,
    ),
    leak(
      'connection-string',
      `MongoServerError: bad auth for mongodb+srv://reporting:${hide(random(16, ALNUM))}@cluster0.x7k2p.mongodb.net/?retryWrites=true&w=majority`,
    ),
    leak('connection-string', `cache.url: redis://:${hide(random(32, ALNUM))}@redis-master:6379/0`),
    leak(
      'connection-string',
      `CELERY_BROKER_URL=amqps://worker:${hide(random(24, URL_SAFE))}@hare.rmq.cloudamqp.com/worker`,
    ),
    leak(
      'connection-string',
      `HikariPool-1 - jdbcUrl........jdbc:postgresql://db.acme.dev/app?user=app&password=${hide(random(14, ALNUM))}&ssl=true`,
    ),
    leak(
      'connection-string',
      `jdbc:oracle:thin:scott/${hide('t1gerLily_88')}@//ora01.acme.dev:1521/ORCLPDB1`,
    ),
    leak(
      'connection-string',
      `Server=tcp:acme.database.windows.net,1433;Initial Catalog=crm;User ID=crmadmin;Password=${hide(random(20, PASSWORD))};Encrypt=True;`,
    ),
    leak(
      'connection-string',
      `DRIVER={ODBC Driver 18 for SQL Server};SERVER=sql01;DATABASE=hr;UID=sa;PWD=${hide('Wint3r-Har8our')};`,
    ),
    leak(
      'connection-string',
      `psql: error: connection to "host=db port=5432 user=app password=${hide('plum7orchard')} dbname=app" failed`,
    ),
    leak(
      'connection-string',
      `Endpoint=sb://acme-bus.servicebus.windows.net/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=${hide(random(43, BASE64))}=`,
    ),
    leak(
      'connection-string',
      `Looking in indexes: https://ci:${hide(random(22, URL_SAFE))}@pypi.acme.dev/simple/`,
    ),
  ]
}

function urls(): Leak[] {
  return [
    leak('url', `GET /v2/me?fields=id,name&access_token=${hide(random(64, ALNUM))} 200 12ms`),
    leak(
      'url',
      `azcopy copy "https://acmelogs.blob.core.windows.net/raw?sv=2024-11-04&ss=b&srt=co&sp=rl&se=2026-12-31T23:59:59Z&sig=${hide(random(42, ALNUM))}%3D" .`,
    ),
    leak(
      'url',
      `https://acme-backups.s3.amazonaws.com/db.dump?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date=20260211T091244Z&X-Amz-Expires=3600&X-Amz-SignedHeaders=host&X-Amz-Signature=${hide(random(64, HEX))}`,
    ),
    leak(
      'url',
      `Reset link for jane@acme.dev: https://app.acme.dev/reset?token=${hide(random(40, URL_SAFE))}`,
    ),
    leak(
      'url',
      `Location: https://app.acme.dev/callback#access_token=${hide(random(48, URL_SAFE))}&token_type=bearer&expires_in=3600`,
    ),
    leak('url', `[I 2026-02-11 ServerApp]     http://127.0.0.1:8888/lab?token=${hide(random(48, HEX))}`),
  ]
}

function headers(): Leak[] {
  const nonce = random(32, HEX)
  return [
    leak(
      'http',
      `* Connected to api.acme.dev (10.2.3.4) port 443\n> GET /v1/users HTTP/1.1\n> Host: api.acme.dev\n> Authorization: Bearer ${hide(random(48, ALNUM))}\n> Accept: */*\n>\n< HTTP/1.1 200 OK`,
    ),
    leak('http', `> Authorization: Basic ${hide(base64(`jenkins:${random(14, PASSWORD)}`))}`),
    leak(
      'http',
      `Authorization: Digest username="admin", realm="router", nonce="${nonce}", uri="/cgi", qop=auth, nc=00000001, cnonce="0a4f113b", response="${hide(random(32, HEX))}"`,
    ),
    leak('http', `authorization: ApiKey ${hide(random(60, BASE64))}==`),
    leak('http', `X-Api-Key: ${hide(random(40, ALNUM))}\r\nContent-Length: 0\r\n`),
    leak('http', `Cookie: theme=dark; sessionid=${hide(random(32, LOWER_ALNUM))}; _ga=GA1.2.1.1`),
    leak(
      'http',
      `< Set-Cookie: connect.sid=s%3A${hide(`${random(32, URL_SAFE)}.${random(43, ALNUM)}`)}; Path=/; HttpOnly; SameSite=Lax`,
    ),
    leak('http', `Proxy-Authorization: Basic ${hide(base64(`corp\\jdoe:${random(12, ALNUM)}`))}`),
    leak(
      'http',
      `RESP: [204] {'X-Subject-Token': 'ok'}\nREQ: curl -g -i -X GET http://keystone:5000/v3 -H "X-Auth-Token: ${fake('gAAAAAB', 176, URL_SAFE)}"`,
    ),
    leak(
      'http',
      `Authorization: AWS4-HMAC-SHA256 Credential=${fake('AKIA', 16, BASE32)}/20260211/us-east-1/s3/aws4_request, SignedHeaders=host;x-amz-date, Signature=${hide(random(64, HEX))}`,
    ),
  ]
}

function keys(): Leak[] {
  const putty = Array.from({ length: 4 }, () => hide(random(64, BASE64)))
  return [
    leak('key', privateKey('RSA PRIVATE KEY', 8, 'MIIEpAIBAAKCAQEA').join('\n')),
    leak(
      'key',
      `{"type":"service_account","project_id":"acme","private_key_id":"${random(40, HEX)}","private_key":"${privateKey('PRIVATE KEY', 6, 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC').join('\\n')}\\n","client_email":"ci@acme.iam.gserviceaccount.com"}`,
    ),
    leak(
      'key',
      `tls:\n  key: |\n${privateKey('EC PRIVATE KEY', 2, 'MHcCAQEEI')
        .map((line) => `    ${line}`)
        .join('\n')}\n  minVersion: "1.3"`,
    ),
    leak(
      'key',
      `$ cat ~/.ssh/id_ed25519\n${privateKey('OPENSSH PRIVATE KEY', 4, 'b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ').join('\n')}`,
    ),
    leak(
      'key',
      `2026-02-11T09:12:44Z app[web.1]: ${privateKey('PRIVATE KEY', 3).join('\n2026-02-11T09:12:44Z app[web.1]: ')}`,
    ),
    leak(
      'key',
      [
        border('BEGIN', 'PGP PRIVATE KEY BLOCK'),
        '',
        ...Array.from({ length: 5 }, () => hide(random(64, BASE64))),
        `=${random(4, ALNUM)}`,
        border('END', 'PGP PRIVATE KEY BLOCK'),
      ].join('\n'),
    ),
    leak(
      'key',
      `# created: 2026-02-11T09:12:44Z\n# public key: age1${random(58, BECH32).toLowerCase()}\n${fake('AGE-SECRET-KEY-1', 58, BECH32)}`,
    ),
    leak(
      'key',
      `[Interface]\nPrivateKey = ${hide(random(43, BASE64))}=\nAddress = 10.8.0.2/32\n\n[Peer]\nPresharedKey = ${hide(random(43, BASE64))}=`,
    ),
    leak(
      'key',
      `PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: ops\nPrivate-Lines: 4\n${putty.join('\n')}\nPrivate-MAC: ${random(64, HEX)}`,
    ),
    leak(
      'key',
      `{"kty":"RSA","kid":"k1","n":"${random(86, URL_SAFE)}","e":"AQAB","d":"${hide(random(86, URL_SAFE))}"}`,
    ),
    leak('key', `npx hardhat run deploy.js\nDEPLOYER_PRIVATE_KEY=0x${hide(random(64, HEX))}`),
    leak(
      'key',
      `Mnemonic: ${hide('tumble lava orbit canvas drift pepper muscle fancy arrow velvet banana glimpse')}\nHD Path: m/44'/60'/0'/0`,
    ),
  ]
}

function tokens(): Leak[] {
  const user = { sub: '18274', email: 'jane@acme.dev', iat: 1_770_800_000, exp: 1_770_803_600 }
  return [
    leak('token', `DEBUG auth.middleware verified ${jwt(user)} for route /v1/orders`),
    leak(
      'token',
      `kubectl config set-credentials ci --token=${jwt({ iss: 'kubernetes/serviceaccount', sub: 'system:serviceaccount:ci:deployer' }, 'RS256')}`,
    ),
    leak(
      'token',
      `{"access_token":"${hide(random(86, URL_SAFE))}","token_type":"Bearer","expires_in":3599,"refresh_token":"${fake('1//0', 98, URL_SAFE)}","scope":"openid email"}`,
    ),
    leak(
      'token',
      `POST /saml/acs SAMLResponse=${hide(base64(`<samlp:Response ID="_${random(32, HEX)}"><saml:Assertion>${random(80, ALNUM)}</saml:Assertion></samlp:Response>`))}`,
    ),
    leak(
      'token',
      `grant_type=authorization_code&code=${random(12, DIGITS)}&client_id=web&client_secret=${hide(random(40, URL_SAFE))}&redirect_uri=https%3A%2F%2Fapp`,
    ),
    leak(
      'token',
      `otpauth://totp/Acme:jane@acme.dev?secret=${hide(random(32, BASE32))}&issuer=Acme&digits=6`,
    ),
    leak(
      'token',
      `Consul ACL bootstrapped\nAccessorID:       ${uuid()}\nSecretID:         ${hide(uuid())}\nDescription:      Bootstrap Token (Global Management)`,
    ),
  ]
}
