import org.jetbrains.kotlin.gradle.dsl.JvmTarget

plugins {
    alias(libs.plugins.kotlin.jvm)
    `maven-publish`
}

kotlin {
    explicitApi()
    compilerOptions {
        jvmTarget = JvmTarget.fromTarget(libs.versions.jvmTarget.get())
        // The compiler then refuses later APIs of Java.
        freeCompilerArgs.add("-Xjdk-release=${libs.versions.jvmTarget.get()}")
    }
}

java {
    toolchain { languageVersion = JavaLanguageVersion.of(17) }
    targetCompatibility = JavaVersion.toVersion(libs.versions.jvmTarget.get())
    withSourcesJar()
}

dependencies {
    api(project(":intertwine-client"))
}

publishing {
    publications { create<MavenPublication>("library") { from(components["java"]) } }
}
