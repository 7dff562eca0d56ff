// An app uses the libraries from the local Maven repository: `./gradlew --project-dir …/Clients/Kotlin publishToMavenLocal`.
pluginManagement {
    repositories {
        google()
        mavenCentral()
        gradlePluginPortal()
    }
}

dependencyResolutionManagement {
    repositoriesMode = RepositoriesMode.FAIL_ON_PROJECT_REPOS
    repositories {
        google()
        mavenCentral()
    }
}

rootProject.name = "intertwine-kotlin"

include("intertwine-client", "intertwine-ui", "intertwine-recyclerview", "intertwine-compose")
