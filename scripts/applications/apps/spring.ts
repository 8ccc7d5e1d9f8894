// Spring Boot with Spring Security and a WebSocket, of Maven.
import path from 'node:path'
import type { Application } from '../application.ts'
import { maven } from '../installers.ts'

const VERSION = '4.0.7'

const starter = (name: string): string =>
  `<dependency><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-${name}</artifactId></dependency>`

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <parent>
    <groupId>org.springframework.boot</groupId>
    <artifactId>spring-boot-starter-parent</artifactId>
    <version>${VERSION}</version>
    <relativePath/>
  </parent>
  <groupId>demo</groupId>
  <artifactId>app</artifactId>
  <version>1</version>
  <dependencies>
    ${['webmvc', 'security', 'websocket'].map(starter).join('\n    ')}
  </dependencies>
  <build>
    <finalName>app</finalName>
    <plugins>
      <plugin><groupId>org.springframework.boot</groupId><artifactId>spring-boot-maven-plugin</artifactId></plugin>
    </plugins>
  </build>
</project>
`

const APP = `package demo;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.support.ServletUriComponentsBuilder;
import org.springframework.web.socket.TextMessage;
import org.springframework.web.socket.WebSocketSession;
import org.springframework.web.socket.config.annotation.EnableWebSocket;
import org.springframework.web.socket.config.annotation.WebSocketConfigurer;
import org.springframework.web.socket.config.annotation.WebSocketHandlerRegistry;
import org.springframework.web.socket.handler.TextWebSocketHandler;

@SpringBootApplication
@EnableWebSocket
@RestController
public class App implements WebSocketConfigurer {
  public static void main(String[] args) {
    SpringApplication.run(App.class, args);
  }

  @GetMapping("/")
  String index() {
    return ServletUriComponentsBuilder.fromCurrentRequest().build().toUriString();
  }

  public void registerWebSocketHandlers(WebSocketHandlerRegistry registry) {
    registry.addHandler(new TextWebSocketHandler() {
      @Override
      protected void handleTextMessage(WebSocketSession session, TextMessage message) throws Exception {
        session.sendMessage(message);
      }
    }, "/echo");
  }
}
`

const PASSWORD = 'a password'

export const SPRING: readonly Application[] = [
  {
    name: 'Spring Boot',
    setting: '`server.forward-headers-strategy=native`, for URLs of its own',
    checks:
      'the site as its own origin, the login of Spring Security with its CSRF token, logout, a WebSocket whose `Origin` has to be the site',
    install(folder) {
      maven(folder, { 'pom.xml': POM, 'src/main/java/demo/App.java': APP })
      return VERSION
    },
    start: (folder, port) => [
      'java',
      '-jar',
      path.join(folder, 'target/app.jar'),
      `--server.port=${port}`,
      '--server.forward-headers-strategy=native',
      `--spring.security.user.password=${PASSWORD}`,
    ],
    async check(visitor) {
      await visitor.redirect('/', '/login')
      const token = async (): Promise<string> =>
        /name="_csrf"[^>]* value="([^"]+)"/.exec((await visitor.page('/login', '_csrf')).text)?.[1] ?? ''
      const fields = { username: 'user', password: PASSWORD, _csrf: await token() }
      await visitor.redirect('/login', '/?continue', visitor.form('/login', fields))
      await visitor.page('/', visitor.url.origin)
      await visitor.echo('/echo', 'hello')
      await visitor.expect(403, '', '/logout', visitor.form('/logout', { _csrf: 'wrong' }))
      await visitor.redirect('/logout', '/login?logout', visitor.form('/logout', { _csrf: await token() }))
    },
  },
]
